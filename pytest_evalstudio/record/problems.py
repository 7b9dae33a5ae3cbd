"""Problems of a workflow's steps as findings: metrics of one evaluator are one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pytest_evalstudio.core.problems import Problem

_MERGED = ("mean_missed", "weak_cell")
"""Codes of problems that are one finding per evaluator, model and step."""
P = TypeVar("P", bound=Problem)


def problem_groups(problems: Iterable[P]) -> list[list[P]]:
    """Return problems in groups, each in the place of its first one, which is the most severe.

    Args:
        problems: the most severe first.
    """
    groups: dict[object, list[P]] = {}
    for number, problem in enumerate(problems):
        attributes = problem.attributes
        evaluator = attributes.get("evaluator")
        merges = problem.code in _MERGED and isinstance(evaluator, str)
        identity: object = (
            evaluator,
            problem.code,
            str(attributes.get("model")),
            str(attributes.get("step")),
        )
        groups.setdefault(identity if merges else number, []).append(problem)
    return list(groups.values())
