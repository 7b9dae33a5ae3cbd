"""Densities and intervals of pictures, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.density import density
from pytest_evalstudio.stats.intervals import is_binary, mean_interval, wilson_interval


def test_far_from_the_ends_it_is_a_gaussian_kernel_density() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.02, 80)
    points = np.linspace(0.4, 0.6, 30)
    spread = min(values.std(ddof=1), float(np.subtract(*np.percentile(values, (75, 25)))) / 1.349)
    expected = stats.gaussian_kde(values, bw_method=0.9 * spread * 80**-0.2 / values.std(ddof=1))(points)
    assert density(values.tolist(), points, 0.0, 1.0) == pytest.approx(expected, rel=1e-6)


def test_what_lies_at_an_end_stays_within_the_range() -> None:
    values = np.random.default_rng(1).beta(8, 1, 200).tolist()
    points = np.linspace(0.0, 1.0, 2001)
    assert float(np.trapezoid(density(values, points, 0.0, 1.0), points)) == pytest.approx(1.0, abs=1e-3)


def test_scores_that_are_mostly_the_same_have_a_density() -> None:
    assert np.isfinite(density([0.5] * 20 + [0.6], np.linspace(0, 1, 5), 0.0, 1.0)).all()


def test_intervals_of_means() -> None:
    values = [0.2, 0.5, 0.9, 0.7]
    low, high = mean_interval(values, 0.0, 2.0) or (0.0, 0.0)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (low, high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert mean_interval([1.0, 0.0, 1.0], 0.0, 1.0) == wilson_interval(2, 3)
    assert mean_interval([0.5], 0.0, 1.0) is None
    assert mean_interval([0.1, 0.99], 0.0, 1.0) == (0.0, 1.0), "cut at the ends"


def test_passes_and_failures_are_a_share() -> None:
    assert is_binary([0.0, 1.0, 1.0])
    assert not is_binary([0.0, 0.5])
