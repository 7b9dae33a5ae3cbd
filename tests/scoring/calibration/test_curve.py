"""Applying calibrations in plain Python: probabilities, thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from pytest_evalstudio.scoring.calibration.curve import level_probabilities, probability, sigmoid, threshold
from pytest_evalstudio.scoring.calibration.file import (
    CalibratedMetric,
    Calibration,
    Conformal,
    Curve,
    Line,
    Logistic,
    Softmax,
    Steps,
)


def calibration(curve: Curve, better: str = "higher", metrics: int = 1) -> Calibration:
    entries = [
        CalibratedMetric(evaluator="e", metric=f"m{number}", better=better) for number in range(metrics)
    ]
    return Calibration(
        method="logistic",
        metrics=entries,
        curve=curve,
        labels=10,
        conformal=Conformal(alpha=0.1, quantile=0.5, labels=10),
    )


def logistic(weight: float, *, log: bool = False) -> Logistic:
    return Logistic(intercept=-0.4, weights=[weight], means=[0.5], scales=[0.2], logs=[log])


@given(st.floats(-800, 800))
def test_sigmoid_is_scipys(value: float) -> None:
    assert sigmoid(value) == pytest.approx(float(expit(value)), abs=1e-15)


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1)),
        min_size=1,
        max_size=8,
        unique_by=lambda point: point[0],
    ),
    st.floats(-1e6, 1e6),
)
def test_lines_are_numpys(points: list[tuple[float, float]], score: float) -> None:
    points.sort()
    x, p = [point[0] for point in points], sorted(point[1] for point in points)
    assert probability(Line(x=x, p=p), [score]) == pytest.approx(float(np.interp(score, x, p)), abs=1e-9)


def test_scores_of_any_size_give_a_probability() -> None:
    curve = Logistic(
        intercept=0.0, weights=[1.0, 1.0], means=[0.0, 0.0], scales=[1e-5, 1.0], logs=[False, True]
    )
    assert probability(curve, [1e308, -5.0]) == 1.0
    assert probability(curve, [-1e308, 1e308]) == 0.0


@pytest.mark.parametrize("score", [1e9, 1e307, 1.7e308])
def test_scores_of_any_size_give_probabilities_of_levels(score: float) -> None:
    curve = Softmax(
        levels=[1, 2, 3],
        good_from=2,
        intercepts=[0.1, 0.0, -0.1],
        weights=[[-3.0, 0.0], [1.0, 0.0], [2.0, 0.0]],
        means=[0.5, 0.0],
        scales=[0.1, 1e-5],
        logs=[False, False],
    )
    assert level_probabilities(curve, [score, score]) == {1: 0.0, 2: 0.0, 3: 1.0}
    assert level_probabilities(curve, [-score, score]) == {1: 1.0, 2: 0.0, 3: 0.0}
    assert (probability(curve, [score, -score]), probability(curve, [-score, -score])) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("curve", "better", "expected"),
    [
        pytest.param(logistic(2.0), "higher", 0.5 + 0.2 * 0.4 / 2, id="logistic"),
        pytest.param(logistic(-2.0), "lower", 0.5 - 0.2 * 0.4 / 2, id="logistic, lower is better"),
        pytest.param(logistic(-2.0, log=True), "lower", math.expm1(0.5 - 0.2 * 0.4 / 2), id="a count"),
        pytest.param(logistic(-1.0), "lower", 0.5 - 0.2 * 0.4, id="a weight of -1"),
        pytest.param(logistic(-0.5), "lower", 0.5 - 0.2 * 0.4 / 0.5, id="a small weight"),
        pytest.param(logistic(-2.0), "higher", None, id="against the direction"),
        pytest.param(logistic(0.0), "higher", None, id="no weight"),
        pytest.param(Line(x=[0.2, 0.6, 0.8], p=[0.1, 0.4, 0.6]), "higher", 0.7, id="line"),
        pytest.param(Line(x=[0.2, 0.4, 0.8], p=[0.9, 0.6, 0.4]), "lower", 0.6, id="line, lower is better"),
        pytest.param(Line(x=[0.2, 0.6], p=[0.1, 0.9]), "higher", 0.4, id="a line of two points"),
        pytest.param(
            Line(x=[0.2, 0.4, 0.6, 0.8], p=[0.9, 0.7, 0.3, 0.1]), "lower", 0.5, id="a line of four points"
        ),
        pytest.param(Line(x=[0.2, 0.6], p=[0.6, 0.9]), "higher", None, id="all reach it"),
        pytest.param(Line(x=[0.2, 0.6], p=[0.1, 0.4]), "higher", None, id="none reaches it"),
        pytest.param(Line(x=[0.2, 0.6], p=[0.9, 0.1]), "higher", None, id="line against the direction"),
        pytest.param(
            Line(x=[0.2, 0.6], p=[0.1, 0.9]), "lower", None, id="line against the direction, lower is better"
        ),
        pytest.param(Steps(x=[0.2, 0.6], p=[0.1, 0.4, 0.8]), "higher", math.nextafter(0.6, 1), id="steps"),
        pytest.param(Steps(x=[0.2, 0.6], p=[0.8, 0.5, 0.1]), "lower", 0.6, id="steps, lower is better"),
    ],
)
def test_the_threshold_is_where_the_probability_reaches_one_half(
    curve: Curve, better: str, expected: float | None
) -> None:
    result = threshold(calibration(curve, better))
    assert result == (None if expected is None else pytest.approx(expected))
    if result is not None:
        side = 1e-9 if better == "higher" else -1e-9
        assert probability(curve, [result + side]) >= 0.5 > probability(curve, [result - side])


def test_another_probability_has_another_threshold() -> None:
    assert threshold(calibration(logistic(2.0)), 0.9) == pytest.approx(0.5 + 0.2 * (0.4 + math.log(9)) / 2)
    assert threshold(calibration(logistic(2.0)), 0.0) is None
    assert threshold(calibration(logistic(2.0)), 1.0) is None


def test_several_metrics_have_no_threshold() -> None:
    curve = Logistic(
        intercept=0.0, weights=[1.0, 1.0], means=[0.0, 0.0], scales=[1.0, 1.0], logs=[False, False]
    )
    assert threshold(calibration(curve, metrics=2)) is None


@pytest.mark.parametrize(
    ("mean", "log", "expected"),
    [
        pytest.param(1_000.0, False, 1_000.0, id="a score"),
        pytest.param(690.0, True, math.expm1(690.0), id="a count"),
        pytest.param(720.0, True, None, id="a count beyond floats"),
    ],
)
def test_large_scores_have_a_threshold(mean: float, log: bool, expected: float | None) -> None:
    """With an intercept of 0 the threshold is the mean, of counts that of log(1 + score)."""
    curve = Logistic(intercept=0.0, weights=[1.0], means=[mean], scales=[1.0], logs=[log])
    assert threshold(calibration(curve)) == (None if expected is None else pytest.approx(expected))


def test_a_threshold_beyond_floats_is_none() -> None:
    curve = Logistic(intercept=-1.0, weights=[1.0], means=[1e308], scales=[1e308], logs=[False])
    assert threshold(calibration(curve)) is None
