"""Guideline adherence: does the answer keep to the guidelines of its case."""

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
    "guideline_adherence_judge",
    name="Guideline adherence judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class GuidelineAdherenceJudge:
    """Yes if the answer keeps to all guidelines of its case; only cases with guidelines are judged.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Guideline adherence judge", "Share of the answers that keep to all their guidelines."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("guideline_adherence_judge",)

    def not_applicable(self, case: Case) -> str:
        return "" if _guidelines(case) else "no guidelines"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts = {**asked_texts(case), "answer": case.actual_output, "guideline": _guidelines(case)}
        return rated(question("guideline_adherence_judge", texts, "Does the answer keep to all guidelines?"))


def _guidelines(case: Case) -> list[str]:
    return [guideline for guideline in case.guidelines if guideline.strip()]
