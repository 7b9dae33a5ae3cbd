"""Figures of conformal sets: measured, and expected where all answers gave the quantiles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.contrib.calibration.fit.calibrate import calibrate
from pytest_evalstudio.contrib.calibration.fit.results import ConformalFigures
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer


def figures(*, at_random: int | None, coverage: str, count: int = 120) -> ConformalFigures:
    """Figures of answers with scores from 0 to 1, of which every seventh has the label of the other side."""
    table = Scores(columns={"e.m": Column(evaluator="e", metric=Metric("m"))})
    labels = {}
    for number in range(count):
        key = f"k{number}"
        table.answers["f", key, "m"] = TableAnswer(
            file="f",
            key=key,
            model_key="m",
            test_key="",
            categories=(),
            scores={"e.m": {1: number * 37 % count / count}},
        )
        labels[key, "m"] = int((number * 37 % count >= count * 0.6) != (number % 7 == 0))
    random_keys = None if at_random is None else {(f"k{number}", "m") for number in range(at_random)}
    return calibrate(
        table,
        labels,
        ["e.m"],
        drawn=random_keys,
        coverage=coverage,  # type: ignore[arg-type]
    ).figures.conformal


def test_the_expected_coverage_of_all_is_the_mean_of_its_beta_distribution() -> None:
    """Of 60 labels, ceil(61 x 0.9) = 55 are covered: 55 / 61 of new answers."""
    result = figures(at_random=60, coverage="marginal")
    assert result.coverage == pytest.approx(55 / 61)
    assert result.coverage_interval == pytest.approx(tuple(stats.beta(55, 6).ppf([0.025, 0.975])))
    assert result.coverage_good is not None
    assert result.coverage_bad is not None
    assert sum(result.sets.values()) == 60


def test_the_expected_coverage_of_kinds_is_weighted_by_their_share() -> None:
    result = figures(at_random=60, coverage="class")
    assert result.quantile_good is not None
    assert result.coverage_good is not None
    assert result.coverage_bad is not None
    good = sum((number * 37 % 120 >= 72) != (number % 7 == 0) for number in range(60))
    expected = [np.ceil((count + 1) * 0.9) / (count + 1) for count in (good, 60 - good)]
    assert (result.coverage_good, result.coverage_bad) == pytest.approx(tuple(expected))
    assert result.coverage == pytest.approx((good * expected[0] + (60 - good) * expected[1]) / 60)
    assert result.coverage_good_interval is not None
    assert result.coverage_bad_interval is not None
    lows = result.coverage_good_interval[0], result.coverage_bad_interval[0]
    assert result.coverage_interval[0] == pytest.approx((good * lows[0] + (60 - good) * lows[1]) / 60)


def test_a_cross_validated_coverage_is_a_share_of_the_answers() -> None:
    result = figures(at_random=None, coverage="class")
    assert sum(result.sets.values()) == 120
    assert (result.coverage * 120) % 1 == pytest.approx(0.0, abs=1e-9)
    low, high = result.coverage_interval
    assert low < result.coverage < high
    assert result.levels is None
