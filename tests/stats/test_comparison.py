"""Tests and intervals against scipy, statsmodels, published examples and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import hypergeom, mannwhitneyu, rankdata
from sklearn.metrics import roc_auc_score
from statsmodels.stats.multitest import multipletests

from pytest_evalstudio.stats.comparison import fisher_fewer_passes, holm, mann_whitney_lower
from pytest_evalstudio.stats.intervals import difference_of_proportions, probability_of_lower


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_holm_is_statsmodels(seed: int) -> None:
    values = np.random.default_rng(seed).random(12) ** 3
    assert holm(values.tolist()) == pytest.approx(multipletests(values, method="holm")[1])


def test_no_tests_need_no_correction() -> None:
    assert holm([]) == []


def test_fewer_passes_by_hand() -> None:
    """Of 20 cases 12 pass; a cell of 8 has 2 of them: P(at most 2) of a hypergeometric draw."""
    assert fisher_fewer_passes(2, 8, 10, 12) == pytest.approx(hypergeom.cdf(2, 20, 12, 8))
    assert fisher_fewer_passes(5, 5, 5, 10) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_lower_scores_are_scipys_without_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, others = rng.random(7) * 0.8, rng.random(40)
    assert mann_whitney_lower(values, others) == pytest.approx(
        mannwhitneyu(values, others, alternative="less", method="exact").pvalue
    )


@pytest.mark.parametrize("seed", range(3))
def test_lower_scores_with_ties_are_those_of_all_ways_to_choose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, 14) / 4
    ranks = rankdata(scores)
    sums = [sum(subset) for subset in itertools.combinations(ranks, 5)]
    expected = np.mean(np.array(sums) <= ranks[:5].sum() + 1e-9)
    assert mann_whitney_lower(scores[:5], scores[5:]) == pytest.approx(expected)


def test_many_scores_are_compared_by_the_normal_approximation() -> None:
    rng = np.random.default_rng(1)
    values, others = rng.random(30) * 0.9, rng.random(700)
    assert mann_whitney_lower(values, others) == pytest.approx(
        mannwhitneyu(values, others, alternative="less", method="asymptotic").pvalue
    )


def test_lower_scores_by_hand() -> None:
    """Three of six values, all below the others: one of the 20 ways to choose them."""
    assert mann_whitney_lower(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])) == pytest.approx(1 / 20)
    assert mann_whitney_lower(np.array([0.5] * 5), np.array([0.5] * 9)) == 1.0


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param((56, 70, 48, 80), (0.0524, 0.3339), id="a"),
        pytest.param((9, 10, 3, 10), (0.1705, 0.8090), id="b"),
        pytest.param((10, 10, 0, 10), (0.6075, 1.0), id="g"),
    ],
)
def test_intervals_of_differences_are_those_of_the_paper(
    counts: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    """Newcombe, 1998, table II, method 10."""
    assert difference_of_proportions(*counts)[1] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_chance_of_lower_is_an_area_under_the_roc_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, others = rng.random(12).round(1), rng.random(30).round(1)
    expected = roc_auc_score([0] * 12 + [1] * 30, np.concatenate([values, others]))
    value, (low, high) = probability_of_lower(values, others)
    assert value == pytest.approx(expected)
    assert low < value < high


def test_the_interval_of_what_is_certain_is_not_a_point() -> None:
    value, (low, high) = probability_of_lower(np.arange(5.0), np.arange(10.0, 20.0))
    assert (value, high) == (1.0, 1.0)
    assert 0.5 < low < 0.95


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Two normal distributions one standard deviation apart: P(lower) = Φ(1/√2) = 0.7602."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(2_000):
        low, high = probability_of_lower(rng.normal(0, 1, 15), rng.normal(1, 1, 40))[1]
        hits += low <= 0.76025 <= high
    assert hits / 2_000 == pytest.approx(0.95, abs=0.02)
