"""The Kolmogorov–Smirnov test against scipy and, with ties, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.distributions import kolmogorov_smirnov_lower


@pytest.mark.parametrize(("size", "other_size"), [(5, 9), (12, 30), (30, 30)])
def test_without_ties_it_is_as_scipy_has_it(size: int, other_size: int) -> None:
    rng = np.random.default_rng(size)
    for shift in (0.0, 0.7):
        values, others = rng.normal(-shift, 1, size), rng.normal(0, 1, other_size)
        expected = stats.ks_2samp(values, others, alternative="greater", method="exact")
        assert kolmogorov_smirnov_lower(values, others) == pytest.approx(
            (expected.statistic, expected.pvalue)
        )


@pytest.mark.parametrize("seed", range(5))
def test_with_ties_it_is_what_enumeration_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, 10) / 4
    values, others = scores[:4], scores[4:]

    def distance(sample: np.ndarray, rest: np.ndarray) -> float:
        return max(0.0, *((sample <= point).mean() - (rest <= point).mean() for point in scores))

    observation = distance(values, others)
    every = [
        distance(scores[list(subset)], np.delete(scores, subset))
        for subset in itertools.combinations(range(10), 4)
    ]
    statistic, p_value = kolmogorov_smirnov_lower(values, others)
    assert statistic == pytest.approx(observation)
    assert p_value == pytest.approx(
        np.mean([value >= observation - 1e-12 for value in every]) if observation else 1.0
    )


def test_of_yes_and_no_it_is_fishers() -> None:
    values, others = np.array([0.0] * 6 + [1.0] * 4), np.array([0.0] * 3 + [1.0] * 17)
    expected = stats.fisher_exact([[6, 4], [3, 17]], alternative="greater").pvalue
    assert kolmogorov_smirnov_lower(values, others)[1] == pytest.approx(expected)


def test_the_same_scores_say_nothing() -> None:
    assert kolmogorov_smirnov_lower(np.ones(5), np.ones(8)) == (0.0, 1.0)
