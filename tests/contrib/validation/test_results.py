"""Typed results of steps, read from state files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready, read_results
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID, EvaluationResults
from pytest_evalstudio.contrib.validation.workflow.calibration import calibrated_thresholds
from pytest_evalstudio.core.errors import DataError
from support.workbench import Bench

FIGURES = {
    "cases": 2,
    "verdicts": {"passed": 2},
    "evaluators": ["rouge"],
    "thresholds": {"rouge": 1},
    "deciding": [],
    "undecided": ["rouge.rouge_l"],
    "controls": {},
    "min_pass_share": 0.8,
    "coverage": {"rules": [1, 4]},
}
"""Results as the state file of a step holds them."""


def test_results_are_read_with_their_types() -> None:
    results = read_results(ID, {**FIGURES, "added_later": 1}, EvaluationResults)
    assert (results.evaluators, results.thresholds) == (("rouge",), {"rouge": 1.0})
    assert json_ready(results).keys() == FIGURES.keys()


def test_results_that_lack_a_key_name_the_step_and_the_remedy() -> None:
    with pytest.raises(DataError, match=r"missing required field `cases`; run it again") as exc_info:
        read_results(ID, {}, EvaluationResults)
    assert ID in str(exc_info.value)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        pytest.param({}, {}, id="no calibration"),
        pytest.param({"human_calibration": {"labelled": 3}}, {}, id="nothing calibrated yet"),
        pytest.param(
            {"human_calibration": {"thresholds": {"rouge.rouge_l": 0.25, "bleu.bleu": None}}},
            {"rouge.rouge_l": 0.25},
            id="one threshold",
        ),
    ],
)
def test_calibrated_thresholds_of_completed_steps(
    tmp_path: Path, figures: dict[str, dict[str, object]], expected: dict[str, float]
) -> None:
    context = replace(Bench(tmp_path, {"a.txt": "A."}).work("test"), figures=figures)
    assert calibrated_thresholds(context) == expected
