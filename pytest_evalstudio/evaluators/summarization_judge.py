"""Summarization by a judge: is the answer as good a summary as the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import boolean_metrics
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._verdicts import boolean_flow


@evaluator(
    "summarization_judge",
    name="Summarization (judge)",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S VR", "C M O"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class SummarizationJudge:
    """The judge compares the answer with the reference summary.

    Source: H2O Eval Studio user guide, Summarization (Judge).
    """

    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Good summary (pass)",
        "Bad summary (fail)",
        "Summarization retrieval failures",
        "Summarization generation failures",
        "Summarization parsing failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("summarization_judge",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        return boolean_flow(
            case,
            self.metrics,
            "summarization_judge",
            {"summary": case.actual_output, "reference": case.expected_output},
            "Is the summary good or bad?",
            "good",
            "bad",
        )
