"""Correctness: does the answer say what is expected."""

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


@evaluator(
    "correctness_judge",
    name="Correctness judge",
    domain="generation",
    needs=("question", "expected_output", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class CorrectnessJudge:
    """Yes if the answer is accurate and means the same as the expected output, or states the expected facts;
    one of the two is needed.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Correctness judge", "Share of the answers that are correct."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("correctness_judge",)
    needs: ClassVar[tuple[str, ...]] = ("question", "actual_output")

    def not_applicable(self, case: Case) -> str:
        return "" if expected_texts(case) else "neither expected output nor expected facts"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts = {**asked_texts(case), "answer": case.actual_output, **expected_texts(case)}
        return rated(question("correctness_judge", texts, "Is the answer correct?"))
