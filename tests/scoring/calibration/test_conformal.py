"""Conformal sets of saved calibrations."""

from __future__ import annotations

import pytest

from pytest_evalstudio.scoring.calibration.conformal import ConformalSet, conformal_set
from pytest_evalstudio.scoring.calibration.file import Conformal, Line, Logistic

ORDINAL = Logistic(intercept=0, weights=[1], means=[0], scales=[1], logs=[False], cuts={2: 0, 3: -1})
LEVELS = Conformal(alpha=0.1, quantile=0.6, labels=20, levels={1: 0.6, 2: 0.9, 3: 0.2})


@pytest.mark.parametrize(
    ("labels", "is_uncertain", "doubt"),
    [
        pytest.param((1,), False, "", id="good"),
        pytest.param((0,), False, "", id="bad"),
        pytest.param((0, 1), True, "uncertain: both good and bad are in the 0.8 prediction set", id="both"),
        pytest.param((), True, "uncertain: neither good nor bad is in the 0.8 prediction set", id="none"),
    ],
)
def test_a_set_without_exactly_one_label_is_uncertain(
    labels: tuple[int, ...], is_uncertain: bool, doubt: str
) -> None:
    possible = ConformalSet(labels=labels, alpha=0.2)
    assert (possible.is_uncertain, possible.doubt) == (is_uncertain, doubt)


def test_an_ordinal_calibration_has_a_set_of_levels_by_the_quantile_of_each() -> None:
    # Levels 1, 2 and 3 have the probabilities 0.5, 0.231 and 0.269; from the likeliest outwards, level 1 is
    # reached at 0.5, level 2 at 0.731 and level 3 at 1.
    assert conformal_set(LEVELS, 0.5, ORDINAL, [0.0]).levels == (1, 2)


@pytest.mark.parametrize("curve", [None, Line(x=[0.2, 0.6], p=[0.1, 0.9])])
def test_without_an_ordinal_curve_there_is_no_set_of_levels(curve: Line | None) -> None:
    assert conformal_set(LEVELS, 0.5, curve, [0.4]).levels is None


def test_each_label_has_its_quantile_where_the_coverage_is_by_class() -> None:
    conformal = Conformal(
        alpha=0.1, quantile=0.5, labels=40, kind="class", quantile_good=0.4, quantile_bad=0.7
    )
    assert conformal_set(conformal, 0.65).labels == (0, 1)
    assert conformal_set(conformal, 0.8).labels == (1,)
    assert conformal_set(conformal, 0.5).labels == (0,)
