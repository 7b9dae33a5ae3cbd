"""What the boolean judges share: one question about the answer, one about the context where that is wanted, and what becomes of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Flow, Question
from pytest_evalstudio.core.outcomes import Finding, Metric, Outcome
from pytest_evalstudio.core.replies import choice, record, text
from pytest_evalstudio.evaluators._common import boolean_outcome, judges_context, one_line

REASON_CHARS = 300


def boolean_flow(
    case: Case,
    metrics: Sequence[Metric],
    prompt: str,
    texts: Mapping[str, str | Sequence[str]],
    verdict: str,
    passing: str,
    failing: str,
    *,
    judged_text: str = "answer",
    evaluate_retrieved_context: bool = False,
    finding: Finding | None = None,
) -> Flow[Outcome]:
    """Ask for a verdict on the answer, and, where wanted, for the same on the retrieved context: one or two questions.

    Args:
        texts: of the prompt; `judged_text` among them is the answer, and the context in the second question.
        verdict: the question in a sentence.
        passing, failing: the two words that answer it.
        finding: a problem of its own for each case that fails.
    """
    reply = record(
        reason=text("Why, in one or two sentences. Do not repeat personal data or offensive words."), verdict=choice(verdict, passing, failing)
    )
    questions = [Question(prompt=prompt, texts=texts, reply=reply)]
    if with_context := judges_context(case, evaluate_retrieved_context):
        questions.append(Question(prompt=prompt, texts={**texts, judged_text: "\n\n".join(case.context)}, reply=reply))
    replies = yield questions
    answer, context = replies[0], replies[1] if with_context else None
    outcome = verdict_outcome(metrics, answer["verdict"], answer["reason"], failing=failing, finding=finding)
    if context is None:
        return outcome
    return verdict_outcome(
        metrics,
        answer["verdict"],
        answer["reason"],
        failing=failing,
        context_fault=_fault(context["verdict"], context["reason"], failing),
        finding=finding,
    )


def verdict_outcome(
    metrics: Sequence[Metric], verdict: str, reason: str, *, failing: str, context_fault: str | None = None, finding: Finding | None = None
) -> Outcome:
    """The outcome of a verdict.

    Args:
        failing: the verdict that fails the case.
        context_fault: what is wrong with the retrieved context, "" for nothing, None where nobody looked: then it has neither
            failed nor passed.
        finding: a problem of its own for a case that fails.
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
    if context_fault is not None:
        return outcome
    return dataclasses.replace(outcome, scores={**outcome.scores, "model_retrieval_failures": None})


def _fault(verdict: str, reason: str, failing: str) -> str:
    return (one_line(reason, REASON_CHARS) or failing) if verdict == failing else ""
