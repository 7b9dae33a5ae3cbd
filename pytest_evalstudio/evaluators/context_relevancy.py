"""Context relevancy of RAGAS: how much of the retrieved context matters to the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.replies import number, record, several
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords, judged
from pytest_evalstudio.evaluators._similarity import has_words


@evaluator(
    "context_relevancy",
    name="Context relevancy",
    domain="retrieval",
    needs=("question", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextRelevancy:
    """Share of the sentences of the context that the judge finds relevant to the question.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "context_relevancy",
            "Context relevancy",
            primary=True,
            description="Share of the context's sentences that are relevant.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("relevant_sentences",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def consider(case: Case) -> Flow[Outcome]:
            return self._consider(case, tools)

        return judged(cases, tools, self.metrics, consider, reads_answer=False)

    def _consider(self, case: Case, tools: Tools) -> Flow[Outcome]:
        spans = [
            (place, start, end)
            for place, chunk in enumerate(case.context)
            for start, end in tools.split_sentences(chunk)
        ]
        spans = [
            (place, start, end) for place, start, end in spans if has_words(case.context[place][start:end])
        ]
        if not spans:
            return Outcome.not_applicable("the context has no sentences")
        [found] = yield [
            Question(
                prompt="relevant_sentences",
                texts={
                    **asked_texts(case),
                    "sentence": [case.context[place][start:end] for place, start, end in spans],
                },
                reply=record(
                    relevant=several(
                        "Numbers of the relevant sentences.", number("", least=1, most=len(spans), whole=True)
                    )
                ),
            )
        ]
        relevant = set(found["relevant"])
        fragments = [
            Fragment(
                part=f"context:{place}",
                start=start,
                end=end,
                scores={"context_relevancy": float(at in relevant)},
            )
            for at, (place, start, end) in enumerate(spans, 1)
        ]
        return Outcome.score(
            {"context_relevancy": len(relevant) / len(spans)},
            reason=f"{len(spans) - len(relevant)} of {len(spans)} sentences are not relevant"
            if len(relevant) < len(spans)
            else "",
            fragments=tuple(fragments[:MAX_FRAGMENTS]),
        )
