"""Noisy answers of a hold-out, and the interval of its gap."""

from __future__ import annotations

import random

import pytest
from scipy.stats import laplace

from pytest_evalstudio.stats.holdout import gap_interval, laplace_quantile, noise_bound, thresholdout
from pytest_evalstudio.stats.intervals import difference_of_proportions


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.9, 0.999])
def test_quantiles_are_those_of_the_laplace_distribution(share: float) -> None:
    assert laplace_quantile(share, 0.02) == pytest.approx(laplace.ppf(share, scale=0.02), abs=1e-12)


def test_noise_is_beyond_its_bound_in_one_percent() -> None:
    assert 2 * laplace.sf(noise_bound(0.01), scale=0.01) == pytest.approx(0.01)


def test_an_exact_gap_has_the_interval_of_two_proportions() -> None:
    _, (low, high) = difference_of_proportions(90, 100, 56, 80)
    assert gap_interval(90, 100, 0.7, 80) == pytest.approx((low, high))


def test_a_noisy_gap_has_a_wider_interval_that_covers_the_truth() -> None:
    rng = random.Random(7)
    covered = 0
    for _ in range(500):
        passed, hidden = (sum(rng.random() < rate for _ in range(100)) for rate in (0.9, 0.6))
        noisy = round(hidden / 100 + laplace_quantile(rng.random(), 0.01), 2)
        low, high = gap_interval(passed, 100, noisy, 100, noise_scale=0.01)
        exact_low, exact_high = gap_interval(passed, 100, noisy, 100)
        assert low < exact_low
        assert high > exact_high
        covered += low <= 0.3 <= high
    assert covered >= 475


def test_close_halves_are_answered_without_a_figure() -> None:
    assert thresholdout(0.9, 0.85, threshold=0.1, noise=(0.0, 0.0, 0.03)) is None
    assert thresholdout(0.9, 0.7, threshold=0.1, noise=(0.0, 0.0, 0.03)) == 0.73
    assert thresholdout(0.7, 0.9, threshold=0.1, noise=(0.0, 0.0, 0.3)) == 1.0
