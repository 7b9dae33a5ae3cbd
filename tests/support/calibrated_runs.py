"""Runs with a calibration file: a lab of four answers, and a calibration of their supported words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.project import Project

WORDS = {"evaluator": "lexical_groundedness", "metric": "supported_words"}
CURVE = {
    "kind": "logistic",
    "intercept": 0.0,
    "weights": [4.0],
    "means": [0.6],
    "scales": [0.2],
    "logs": [False],
}
TWO = '["lexical_groundedness", "strict"]'
CONTEXT = ["alpha beta gamma delta epsilon zeta eta theta iota kappa"]
ANSWERS = {
    "certain": "alpha beta gamma delta epsilon zeta eta theta iota kappa",
    "doubtful": "alpha beta gamma delta epsilon zeta eta apple banana cherry",
    "missed": "alpha beta gamma delta epsilon zeta apple banana cherry lemon orange",
    "bad": "alpha apple banana cherry lemon orange peach plum melon grape olive",
}


def calibrated_project(pytester: pytest.Pytester) -> Project:
    """Return a project with the lab of the four answers."""
    project = Project(pytester)
    project.lab(
        *(
            {"key": key, "input": "Letters?", "actual_output": answer, "context": CONTEXT}
            for key, answer in ANSWERS.items()
        )
    )
    return project


def calibration(
    project: Project, *metrics: dict[str, Any], curve: dict[str, Any] = CURVE, quantile: float = 0.9
) -> None:
    content = {
        "evalstudio_calibration": 1,
        "method": "logistic",
        "metrics": list(metrics) or [WORDS],
        "curve": curve,
        "labels": 50,
        "conformal": {"alpha": 0.1, "quantile": quantile, "labels": 49},
    }
    project.write("calibration.json", json.dumps(content))


def configure(project: Project, *more: str, evaluators: str = '["lexical_groundedness"]') -> None:
    lines = [
        f"evaluators = {evaluators}",
        "[evaluator.lexical_groundedness]",
        'calibration = "calibration.json"',
        *more,
    ]
    project.write("evalstudio.toml", "\n".join(lines))


def verdict(project: Project, key: str) -> dict[str, Any]:
    _, items = project.record()
    return items[f"{key}[m]"]["verdicts"]["lexical_groundedness"]
