"""Relevance to query: does the answer address what was asked."""

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
    "relevance_to_query_judge",
    name="Relevance to query judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class RelevanceToQueryJudge:
    """Yes if the answer addresses the question; whether it is true does not matter here.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Relevance to query judge", "Share of the answers that address the question."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("relevance_to_query_judge",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts = {**asked_texts(case), "answer": case.actual_output}
        return rated(question("relevance_to_query_judge", texts, "Does the answer address the question?"))
