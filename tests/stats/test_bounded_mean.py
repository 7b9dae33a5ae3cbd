"""Limits of bounded means against Clopper-Pearson, McNemar, numerical integration and random weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from pytest_evalstudio.stats.bounded_mean import mean_lower_limit


def limit(values: np.ndarray, *, minimum: float = -1.0, error: float = 0.045) -> float:  # type: ignore[type-arg]
    return mean_lower_limit(values.astype(float), np.ones(len(values)), minimum=minimum, error=error)


def pairs(falls: int, rises: int, total: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.repeat([-1.0, 0.0, 1.0], [falls, total - falls - rises, rises])


@pytest.mark.parametrize(("good", "total"), [(1, 1), (3, 3), (3, 10), (10, 10), (99, 100), (197, 200)])
@pytest.mark.parametrize("error", [0.005, 0.045])
def test_of_zeros_and_ones_it_is_clopper_and_pearsons(good: int, total: int, error: float) -> None:
    values = np.repeat([1.0, 0.0], [good, total - good])
    expected = stats.binomtest(good, total).proportion_ci(confidence_level=1 - 2 * error, method="exact").low
    assert limit(values, minimum=0.0, error=error) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("total", [7, 20])
def test_it_is_above_zero_exactly_where_mcnemars_exact_test_rejects(total: int) -> None:
    for falls in range(total + 1):
        for rises in range(1, total + 1 - falls):
            p_rise = stats.binomtest(rises, falls + rises, alternative="greater").pvalue
            assert (limit(pairs(falls, rises, total), error=0.05) > 0) == (p_rise < 0.05), (falls, rises)


@pytest.mark.parametrize(("falls", "rises", "total"), [(1, 1, 4), (3, 2, 12), (5, 10, 60), (12, 2, 100)])
def test_of_yes_no_pairs_it_is_the_quantile_of_the_integrated_distribution(
    falls: int, rises: int, total: int
) -> None:
    """The weights of falls and rises are a beta share of a beta total."""
    value = limit(pairs(falls, rises, total))
    moved = stats.beta(falls + 1 + rises, total - falls - rises)
    share = stats.beta(falls + 1, rises)

    def below(size: float) -> float:
        return float(moved.pdf(size) * share.sf((1 - value / size) / 2))

    middle = float(moved.median())
    probability = sum(integrate.quad(below, *ends, limit=200)[0] for ends in ((0, middle), (middle, 1)))
    assert probability == pytest.approx(0.045, abs=2e-4)


@pytest.mark.parametrize("size", [4, 40, 300])
def test_of_other_values_it_is_the_quantile_over_random_weights(size: int) -> None:
    rng = np.random.default_rng(size)
    values = np.clip(rng.normal(0.02, 0.2, size), -1, 1)
    weights = rng.dirichlet(np.ones(size + 1), 100_000)
    expected = float(np.quantile(weights @ np.append(values, -1.0), 0.045))
    assert limit(values) == pytest.approx(expected, abs=0.01 * (values.mean() - expected) + 1e-4)


def test_clusters_of_several_values_weigh_by_their_number() -> None:
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 6, 30).astype(float)
    sums = rng.uniform(-0.5, 0.5, 30) * counts
    weights = rng.dirichlet(np.ones(31), 200_000)
    means = (weights @ np.append(sums, -counts.max())) / (weights @ np.append(counts, counts.max()))
    expected = float(np.quantile(means, 0.045))
    assert mean_lower_limit(sums, counts, minimum=-1.0, error=0.045) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("total", [1, 2, 30, 3_000])
def test_equal_values_have_a_limit_below_them(total: int) -> None:
    assert limit(np.zeros(total)) == pytest.approx(-(1 - 0.045 ** (1 / total)), rel=0.01)


def test_values_at_the_minimum_have_the_minimum_as_limit() -> None:
    assert limit(np.full(5, -1.0)) == -1.0
    assert limit(np.full(5, -2.0)) == -2.0


@pytest.mark.parametrize("unit", [1e-300, 1e-6, 1e6, 1e150])
def test_the_unit_of_the_values_does_not_matter(unit: float) -> None:
    values = np.array([-0.3, 0.0, 0.1, 0.25, 0.9])
    assert limit(values * unit, minimum=-unit) == pytest.approx(unit * limit(values), rel=1e-6)
