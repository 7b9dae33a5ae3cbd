"""Evaluators with a calibration: the probability among the scores, and scores that it cannot take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.calibrated import calibrated
from pytest_evalstudio.scoring.calibration.file import CalibratedMetric
from pytest_evalstudio.scoring.plan import Plan
from support.calibration_files import save_logistic
from support.toys import toy_registry

VALUE = CalibratedMetric(evaluator="reading", metric="value", better="higher")
PICKY = CalibratedMetric(evaluator="picky", metric="picky", better="higher")


def plan(
    folder: Path, *metrics: CalibratedMetric, evaluators: tuple[str, ...] = ("reading", "picky")
) -> Plan:
    """A plan in which `reading` has the probability 1 / (1 + exp(-Σ 10 (score - 0.5)))."""
    save_logistic(folder / "c.json", *metrics, quantile=0.6, probability=0.75)
    tables: dict[str, Any] = {"reading": {"calibration": "c.json"}}
    config = {"evaluators": list(evaluators), "evaluator": tables}
    return Plan(toy_registry(), configuration(config, folder=folder))


def scored(value: float | None) -> Outcome:
    return Outcome.score({"value": value, "size": 1.0, "free": 1.0}, details={"kept": 1})


def test_the_probability_is_the_first_score_with_its_conformal_set(tmp_path: Path) -> None:
    reading, picky = plan(tmp_path, VALUE).selected
    outcome = calibrated(reading, {reading: scored(0.5), picky: Outcome.score({"picky": 1.0})})
    assert list(outcome.scores.items())[:2] == [("calibrated_probability", 0.5), ("value", 0.5)]
    assert outcome.details == {"kept": 1, "calibration": {"conformal_set": [0, 1], "uncertain": True}}
    sure = calibrated(reading, {reading: scored(0.9)})
    assert sure.scores["calibrated_probability"] == pytest.approx(0.982, abs=1e-3)
    assert sure.details["calibration"] == {"conformal_set": [1], "uncertain": False}
    assert reading.attached is not None
    possible = reading.attached.conformal_set({"calibrated_probability": 0.5})
    assert possible is not None
    assert possible.labels == (0, 1)
    assert reading.attached.conformal_set({"value": 0.5}) is None
    assert picky.attached is None


def test_the_cut_and_its_score_are_thresholds(tmp_path: Path) -> None:
    reading, picky = plan(tmp_path, VALUE).selected
    assert reading.thresholds["calibrated_probability"] == 0.75
    assert reading.thresholds["value"] == pytest.approx(0.5 + 0.1 * 1.0986, abs=1e-4)  # ln 3
    assert (reading.asserted, reading.parameters["calibration"]) == ({"calibrated_probability"}, "c.json")
    assert "calibration" not in picky.parameters


def test_a_calibration_of_several_metrics_takes_the_scores_of_all(tmp_path: Path) -> None:
    reading, picky = plan(tmp_path, VALUE, PICKY).selected
    outcome = calibrated(reading, {reading: scored(0.4), picky: Outcome.score({"picky": 0.6})})
    assert outcome.scores["calibrated_probability"] == pytest.approx(0.5)
    with pytest.raises(ConfigurationError) as exc_info:
        plan(tmp_path, VALUE, PICKY, evaluators=("reading",))
    assert str(exc_info.value) == (
        "evaluator reading: its calibration c.json needs picky.picky, but evaluator 'picky' is not"
        " selected; add it to the evaluators"
    )


def test_a_missing_score_makes_the_probability_not_applicable(tmp_path: Path) -> None:
    reading, picky = plan(tmp_path, VALUE, PICKY).selected
    outcome = calibrated(reading, {reading: scored(0.4), picky: Outcome.not_applicable("no context")})
    assert (outcome.status, dict(outcome.scores)) == ("not_applicable", {})
    assert outcome.reason == ("its calibration takes picky.picky, which has no finite value here: no context")
    outcome = calibrated(reading, {reading: scored(None), picky: Outcome.score({"picky": 1.0})})
    assert (outcome.status, outcome.reason) == (
        "not_applicable",
        "its calibration takes reading.value, which has no finite value here",
    )


def test_an_error_of_another_evaluator_is_an_error_of_the_probability(tmp_path: Path) -> None:
    reading, picky = plan(tmp_path, VALUE, PICKY).selected
    outcome = calibrated(reading, {reading: scored(0.4), picky: Outcome.error("down")})
    assert (outcome.status, outcome.reason) == ("error", "its calibration takes picky.picky: down")


def test_without_a_calibration_or_a_score_an_outcome_is_unchanged(tmp_path: Path) -> None:
    reading, picky = plan(tmp_path, VALUE).selected
    for selected, outcome in ((picky, Outcome.score({"picky": 1.0})), (reading, Outcome.not_applicable("x"))):
        assert calibrated(selected, {selected: outcome}) is outcome
