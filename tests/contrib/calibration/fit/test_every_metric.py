"""Calibrations of several primary metrics: the accepted ones, and the others with their reason."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pytest_evalstudio.contrib.calibration.fit.every_metric import every_metric
from pytest_evalstudio.core.errors import ConfigurationError


def calibrated(*metrics: str, is_accepted: bool = True, has_calibration: bool = True) -> Any:
    """Stand-in for `Calibrated` with what a summary reads of it."""
    figures = SimpleNamespace(
        metrics=metrics,
        threshold_of=metrics[0],
        is_accepted=is_accepted,
        threshold=0.5 if is_accepted else None,
        before=None,
        auc_in_sample=0.9,
        auc_in_sample_interval=None,
        type_1=0.1,
        type_1_interval=None,
        type_2=0.2,
        type_2_interval=None,
        refusals=() if is_accepted else (SimpleNamespace(text="no better than chance"),),
        expected=None,
    )
    return SimpleNamespace(figures=figures, calibration=f"of {metrics[0]}" if has_calibration else None)


def calibrate(key: str) -> Any:
    if key == "few.m":
        raise ConfigurationError("too few labels")
    return calibrated(key, is_accepted=key != "refused.m", has_calibration=key != "trees.m")


def test_each_primary_metric_is_calibrated_once() -> None:
    summaries, accepted = every_metric(
        calibrated("first.m"), ["first.m", "other.m", "refused.m", "few.m", "trees.m"], calibrate
    )
    assert [(each.metric, each.accepted, each.reasons) for each in summaries] == [
        ("first.m", True, ()),
        ("other.m", True, ()),
        ("refused.m", False, ("no better than chance",)),
        ("few.m", False, ("too few labels",)),
        ("trees.m", True, ()),
    ]
    assert accepted == {"first.m": "of first.m", "other.m": "of other.m"}


def test_a_combined_score_is_not_among_the_single_metrics() -> None:
    primaries = ["one.m", "two.m"]
    summaries, accepted = every_metric(calibrated("one.m", "two.m"), primaries, calibrate)
    assert [each.metric for each in summaries] == primaries
    assert list(accepted) == primaries
