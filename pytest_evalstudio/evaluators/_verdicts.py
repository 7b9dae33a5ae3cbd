"""Base of the boolean judges: a question about the answer and, optionally, about the context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Flow, Question
from pytest_evalstudio.core.outcomes import Finding, Metric, Outcome
from pytest_evalstudio.core.replies import choice, record, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import boolean_outcome, judges_context
from pytest_evalstudio.evaluators._judged import judged
from pytest_evalstudio.metrics.quoting import one_line

REASON_CHARS = 300
_REASON = "The evidence, in one or two sentences. Do not repeat personal data or offensive words."


@dataclass(frozen=True, kw_only=True)
class VerdictQuestion:
    """Question of a boolean judge.

    Attributes:
        verdict: the question in a sentence.
        passing: reply for a case that passes.
        failing: reply for a case that fails.
        texts: returns the texts of the prompt; the judge rates the text "answer".
        finding: problem reported for each case that fails.
    """

    prompt: str
    verdict: str
    passing: str
    failing: str
    texts: Callable[[Case], Mapping[str, str | Sequence[str]]]
    finding: Finding | None = None


class BooleanJudge:
    """Evaluator that asks the judge one question about the answer.

    If configured, it asks the same question about the retrieved context.
    """

    asked: ClassVar[VerdictQuestion]
    metrics: ClassVar[tuple[Metric, ...]]
    evaluate_retrieved_context: bool = False

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        prompt, texts = self.asked, self.asked.texts(case)
        reply = record(reason=text(_REASON), verdict=choice(prompt.verdict, prompt.passing, prompt.failing))
        questions = [Question(prompt=prompt.prompt, texts=texts, reply=reply)]
        if with_context := judges_context(case, self.evaluate_retrieved_context):
            questions.append(
                Question(
                    prompt=prompt.prompt, texts={**texts, "answer": "\n\n".join(case.context)}, reply=reply
                )
            )
        replies = yield questions
        return verdict_outcome(
            self.metrics,
            replies[0]["verdict"],
            replies[0]["reason"],
            failing=prompt.failing,
            context_fault=_fault(replies[1]["verdict"], replies[1]["reason"], prompt.failing)
            if with_context
            else None,
            finding=prompt.finding,
        )


def verdict_outcome(
    metrics: Sequence[Metric],
    verdict: str,
    reason: str,
    *,
    failing: str,
    context_fault: str | None = None,
    finding: Finding | None = None,
) -> Outcome:
    """Return the outcome of a verdict.

    Args:
        metrics: metrics of the evaluator.
        verdict: the judge's verdict.
        reason: the judge's reason.
        failing: the verdict that fails the case.
        context_fault: fault of the retrieved context, "" for none, None if it was not judged.
        finding: problem reported for a case that fails.
    """
    fault = _fault(verdict, reason, failing)
    outcome = boolean_outcome(
        metrics,
        fault,
        context_fault or "",
        note=one_line(reason, REASON_CHARS),
        findings=[finding] if finding is not None and (fault or context_fault) else [],
        details={"verdict": verdict, "reason": reason},
    )
    # A context that was not judged neither passes nor fails.
    if context_fault is not None:
        return outcome
    return structs.replace(outcome, scores={**outcome.scores, "model_retrieval_failures": None})


def _fault(verdict: str, reason: str, failing: str) -> str:
    return (one_line(reason, REASON_CHARS) or failing) if verdict == failing else ""
