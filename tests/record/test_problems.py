"""Problems of steps as findings: metrics of one evaluator are one."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.record.problems import problem_groups


def problem(description: str, code: str, **attributes: Any) -> Problem:
    return Problem(
        description=description,
        severity="high",
        problem_type="accuracy",
        avid="P0200",
        attributes=attributes,
        code=code,
    )


def test_metrics_of_one_evaluator_and_model_are_one_finding() -> None:
    problems = [
        problem("rouge_1", "mean_missed", evaluator="rouge", model="a"),
        problem("cluster 1", "failure_cluster", evaluator="rouge"),
        problem("rouge_2", "mean_missed", evaluator="rouge", model="a"),
        problem("bleu", "mean_missed", evaluator="bleu", model="a"),
        problem("rouge_1 of b", "mean_missed", evaluator="rouge", model="b"),
        problem("cluster 2", "failure_cluster", evaluator="rouge"),
        problem("unnamed", "mean_missed"),
        problem("unnamed", "mean_missed"),
    ]
    groups = [[each.description for each in group] for group in problem_groups(problems)]
    assert groups == [
        ["rouge_1", "rouge_2"],
        ["cluster 1"],
        ["bleu"],
        ["rouge_1 of b"],
        ["cluster 2"],
        ["unnamed"],
        ["unnamed"],
    ]
