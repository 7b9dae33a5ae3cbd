"""Groundedness: does the retrieved context support the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._assessments import assessed, question, rated, rating_metric
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords


@evaluator(
    "groundedness_judge",
    name="Groundedness judge",
    domain="generation",
    needs=("question", "context", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class GroundednessJudge:
    """Yes if the retrieved context supports all or almost all of the answer.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Groundedness judge", "Share of the answers that the context supports."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("groundedness_judge",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts = {**asked_texts(case), "context": case.context, "answer": case.actual_output}
        return rated(
            question("groundedness_judge", texts, "Does the context support all or almost all of the answer?")
        )
