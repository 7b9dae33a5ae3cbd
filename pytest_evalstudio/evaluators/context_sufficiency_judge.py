"""Context sufficiency: does the retrieved context hold what the expected answer needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._assessments import assessed, expected_texts, question, rated, rating_metric
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords

_RATIONALE = (
    "Why, in one to three sentences. If the context is not sufficient, say which information is missing. Do"
    " not repeat personal data."
)


@evaluator(
    "context_sufficiency_judge",
    name="Context sufficiency judge",
    domain="retrieval",
    needs=("question", "expected_output", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextSufficiencyJudge:
    """Yes if the retrieved context holds what the expected output, or the expected facts, need; the rationale
    says what is missing.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Context sufficiency judge", "Share of the contexts that suffice."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("context_sufficiency_judge",)
    needs: ClassVar[tuple[str, ...]] = ("question", "context")

    def not_applicable(self, case: Case) -> str:
        return "" if expected_texts(case) else "neither expected output nor expected facts"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider, reads_answer=False)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts = {**asked_texts(case), "context": case.context, **expected_texts(case)}
        return rated(
            question("context_sufficiency_judge", texts, "Is the context sufficient?", rationale=_RATIONALE)
        )
