"""Summarization by a judge: is the answer as good a summary as the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.contracts import evaluator
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.evaluators._common import boolean_metrics
from pytest_evalstudio.evaluators._judged import judge_keywords
from pytest_evalstudio.evaluators._verdicts import Asked, BooleanJudge


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
class SummarizationJudge(BooleanJudge):
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
    asked: ClassVar[Asked] = Asked(
        prompt="summarization_judge",
        verdict="Is the summary good or bad?",
        passing="good",
        failing="bad",
        texts=lambda case: {"answer": case.actual_output, "reference": case.expected_output},
    )
