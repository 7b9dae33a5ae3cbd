"""Step-down permutation test of several cells."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from pytest_evalstudio.stats.max_t import LabelledUnits, _shrinkage, lower_cells
from pytest_evalstudio.stats.types import Floats


def units(scores: list[float], labels: list[int], strata: list[int] | None = None) -> LabelledUnits:
    values = np.array(scores)
    return LabelledUnits(
        labels=np.eye(max(labels) + 1)[labels],
        sums=(values - values.mean())[:, None],
        counts=np.ones((len(scores), 1)),
        strata=np.array(strata or [0] * len(scores)),
        means=np.array([values.mean()]),
        pools=np.array([0]),
        cells=[(value, 0) for value in range(max(labels) + 1)],
    )


def test_p_agrees_with_all_permutations() -> None:
    scores = [0.1, 0.3, 0.2, 0.8, 0.9, 0.7, 0.5]
    p_values, _ = lower_cells(units(scores, [0, 0, 0, 1, 1, 1, 1]), seed=1, draws=20_000)
    sums = [sum(subset) for subset in itertools.combinations(scores, 3)]
    exact = sum(value <= sum(scores[:3]) + 1e-9 for value in sums) / len(sums)
    assert p_values[0] == pytest.approx(exact, abs=0.004)


def test_labels_stay_within_their_stratum() -> None:
    scores = [0.0, 1.0, 10.0, 11.0]
    p_values, _ = lower_cells(units(scores, [0, 1, 0, 1], [0, 0, 1, 1]), seed=2, draws=20_000)
    assert p_values[0] == pytest.approx(0.25, abs=0.01)  # both strata as they are, of four orders


def test_adjusted_p_is_never_below_p_of_the_cell() -> None:
    rng = np.random.default_rng(3)
    p_values, adjusted = lower_cells(units(rng.normal(size=60).tolist(), [n % 6 for n in range(60)]), seed=3)
    assert all(p <= other + 1e-9 for p, other in zip(p_values, adjusted, strict=True))


def columns_of(scores: Floats, *, pooled: bool = True) -> LabelledUnits:
    """Six values with equally many units in each column; the columns form one pool, or one each."""
    count, columns = scores.shape
    means = scores.mean(axis=0)
    return LabelledUnits(
        labels=np.eye(6)[np.arange(count) % 6],
        sums=scores - means,
        counts=np.ones(scores.shape),
        strata=np.zeros(count, dtype=np.int64),
        means=means,
        pools=np.zeros(columns, dtype=np.int64) if pooled else np.arange(columns),
        cells=[(value, column) for column in range(columns) for value in range(6)],
    )


def test_columns_of_a_pool_sharpen_the_test_of_a_low_cell() -> None:
    pooled, separate = [], []
    for seed in range(20):
        scores = np.random.default_rng(seed).normal(size=(120, 5))
        scores[np.arange(120) % 6 == 0, 0] -= 0.8
        for results, is_pooled in ((pooled, True), (separate, False)):
            single, adjusted = lower_cells(columns_of(scores, pooled=is_pooled), seed=seed, draws=499)
            results.append((single[0], adjusted[0]))
    assert [single for single, _ in pooled] == [single for single, _ in separate]
    assert np.median([p for _, p in pooled]) < 0.8 * np.median([p for _, p in separate])


@pytest.mark.parametrize("columns", ["alike", "shifted", "spread"])
def test_a_pool_raises_no_more_false_alarms(columns: str) -> None:
    """Columns may differ in mean and in variance, as long as their cells do not differ in themselves."""
    factors = np.array([1.0, 1.0, 1.0, 3.0]) if columns == "spread" else np.ones(4)
    shifts = np.array([0.0, 0.2, 0.4, -1.0]) if columns == "shifted" else np.zeros(4)
    alarms = 0
    for seed in range(200):
        scores = np.random.default_rng(seed).normal(size=(60, 4)) * factors + shifts
        _, adjusted = lower_cells(columns_of(scores), seed=seed, draws=199)
        alarms += min(adjusted) <= 0.05
    assert alarms <= 19, "5 % of 200, and three standard errors"


def test_the_variance_of_few_pools_is_that_of_a_sample() -> None:
    """1 and 3 have the sample variance 2, of which a noise of 1 explains half."""
    assert _shrinkage(np.array([1.0, 3.0]), np.array([1.0, 1.0])) == pytest.approx(0.5)


def test_a_pool_has_no_effect_on_the_columns_of_another() -> None:
    """The numbers of pools are names: exchanged, they give the same result."""
    scores = np.random.default_rng(2).normal(size=(120, 4)) * [1.0, 1.2, 3.0, 5.0]
    units = columns_of(scores)
    first = lower_cells(replace(units, pools=np.array([0, 0, 1, 1])), seed=1, draws=199)
    second = lower_cells(replace(units, pools=np.array([1, 1, 0, 0])), seed=1, draws=199)
    joint = lower_cells(units, seed=1, draws=199)
    assert first == second
    assert first[1] != joint[1]
