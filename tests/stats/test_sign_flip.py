"""The sign-flip test against scipy, and its promise on data without an effect."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.sign_flip import sign_flip, sign_flip_drop


@pytest.mark.parametrize(("falls", "rises"), [(6, 2), (0, 5), (12, 0), (900, 800)])
def test_differences_of_one_size_have_the_exact_test_of_mcnemar(falls: int, rises: int) -> None:
    differences = np.array([-1.0] * falls + [1.0] * rises + [0.0] * 7)
    expected = stats.binomtest(falls, falls + rises, alternative="greater").pvalue
    assert sign_flip_drop(differences) == pytest.approx(expected)


@pytest.mark.parametrize("size", [5, 12, 16])
def test_few_differences_have_the_exact_permutation_test_of_scipy(size: int) -> None:
    differences = np.random.default_rng(size).normal(-0.2, 1.0, size)
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative="less", n_resamples=np.inf
    ).pvalue
    assert sign_flip_drop(differences) == pytest.approx(expected)


@pytest.mark.parametrize("size", [60, 3_000])
def test_many_differences_come_near_to_the_test_of_scipy(size: int) -> None:
    differences = np.random.default_rng(size).normal(-0.15 * (60 / size) ** 0.5, 1.0, size)
    expected = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        alternative="less",
        n_resamples=4_000,
        rng=np.random.default_rng(1),
        batch=200,
    ).pvalue
    assert sign_flip_drop(differences) == pytest.approx(expected, abs=0.02)


def test_without_an_effect_at_most_five_of_a_hundred_are_found() -> None:
    rng = np.random.default_rng(7)
    results = [sign_flip_drop(rng.normal(0, 1, 12)) <= 0.05 for _ in range(1_000)]
    assert np.mean(results) <= 0.05 + 3 * (0.05 * 0.95 / 1_000) ** 0.5


def test_equal_pairs_show_nothing() -> None:
    assert sign_flip_drop(np.zeros(4)) == 1.0


@pytest.mark.parametrize(
    "differences",
    [
        [-1.0] * 6 + [2.0] + [-2.0] * 3 + [0.0],
        [-0.25] * 5 + [0.5, 0.75, -0.75] * 2,
        [0.1, -0.2, 0.3] * 5,
    ],
)
def test_multiples_of_one_size_are_exact(differences: list[float]) -> None:
    expected = stats.permutation_test(
        (np.array(differences)[np.array(differences) != 0],),
        lambda values, axis: np.round(np.mean(values, axis=axis), 12),
        permutation_type="samples",
        alternative="less",
        n_resamples=np.inf,
    ).pvalue
    larger_sample = np.array(differences * 2)
    assert sign_flip_drop(np.array(differences)) == pytest.approx(expected)
    estimate = sign_flip_drop(larger_sample + np.linspace(0, 1e-7, len(larger_sample)))
    assert sign_flip_drop(larger_sample) == pytest.approx(estimate, abs=0.02)


def test_the_two_sided_test_of_dominance_is_exact() -> None:
    assert sign_flip(np.ones(30)) == 2 * 0.5**30
    assert sign_flip(np.array([2.0] * 20 + [1.0] * 5)) == pytest.approx(2 * 0.5**25)
    assert sign_flip(np.array([1.0, -1.0])) == 1.0


def test_rises_alone_are_no_sign_of_a_drop() -> None:
    assert sign_flip_drop(np.linspace(0.1, 1.0, 30) ** 2) == 1.0


def test_up_to_one_thousand_differences_are_drawn_and_more_have_the_normal_approximation() -> None:
    differences = np.random.default_rng(8).normal(0.01, 1.0, 1_001)
    by_draws = 100 * sign_flip_drop(differences[:1_000], draws=99)
    assert by_draws == pytest.approx(round(by_draws), abs=1e-9), "a number of the 100 assignments"
    z = differences.sum() / np.sqrt((differences**2).sum())
    assert sign_flip_drop(differences, draws=99) == pytest.approx(stats.norm.cdf(z), abs=1e-12)
