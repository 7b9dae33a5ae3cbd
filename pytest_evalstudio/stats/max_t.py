"""Step-down permutation test of many cells at once, which share their permutations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.stats.types import Floats, Integers

DRAWS = 1_999
"""Permutations besides the observed order; p is at least 1 / 2000."""
_BLOCK = 4_000_000  # floats in memory at once: 32 MB
_TOLERANCE = 1e-9  # permuted sums of equal scores differ in the last digits
_MIN_UNITS, _MIN_COLUMNS = 5, 2
"""Smallest column, and smallest pool, whose variances are shrunk."""
_MAX_EXPLAINED = 0.95
"""Limit of the share of a column's variance that a cell explains; the logarithm of the rest stays finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledUnits:
    """Units whose labels are permuted, with the sums and counts of their scores in columns.

    Attributes:
        labels: shape (units, values), 1.0 where a unit has a value of the permuted dimension.
        sums: shape (units, columns), sum of the centred scores of a unit in a column.
        counts: shape (units, columns), number of these scores.
        strata: shape (units,), labels are permuted among the units of one stratum only.
        means: shape (columns,), mean of the scores of a column before they were centred.
        pools: shape (columns,), columns of one pool are comparable: their means and variances are shrunk.
        cells: (value, column) of each tested cell.
    """

    labels: Floats
    sums: Floats
    counts: Floats
    strata: Integers
    means: Floats
    pools: Integers
    cells: Sequence[tuple[int, int]]


def lower_cells(units: LabelledUnits, *, seed: int, draws: int = DRAWS) -> tuple[list[float], list[float]]:
    """Test for each cell that its mean is lower than by chance; one-sided, with strong control of all cells.

    Whole units change their labels, so that scores within a unit may depend on each other. The mean of each
    cell is divided by its standard deviation over the permutations; the smallest value of all remaining cells
    is the reference of the step-down procedure. The columns of a pool share information:

    * the standard deviation is shrunk towards that of the pool, because a low cell raises the variance of its
      column and would hide itself;
    * the shrunken deviation of a column's mean from the pool's is added, so that most of the level is spent
      where low cells are likely. The permutations do not change the means of columns.

    Each change is a monotone function of a cell's mean that is the same for all permutations: p of a cell is
    not changed by it, and the control of all cells holds whatever the columns have in common.

    Args:
        units: with at least one cell.
        seed: of the permutations; the same seed gives the same result.
        draws: number of permutations.

    Returns:
        p of each cell alone, and p adjusted for all cells, each 1 / (draws + 1) to 1.0.

    Source: Westfall and Young, 1993 (Resampling-Based Multiple Testing, algorithm 4.1: step-down maxT);
        Cui, Hwang, Qiu, Blades and Churchill, 2005 (shrinkage of the logarithms of variances);
        Genovese, Roeder and Wasserman, 2006 (weights from what the test does not use).

    >>> labels = np.repeat(np.eye(2), 10, axis=0)
    >>> scores = np.repeat([[-1.0], [1.0]], 10, axis=0)
    >>> units = LabelledUnits(
    ...     labels=labels,
    ...     sums=scores,
    ...     counts=np.ones((20, 1)),
    ...     strata=np.zeros(20, dtype=np.int64),
    ...     means=np.zeros(1),
    ...     pools=np.zeros(1, dtype=np.int64),
    ...     cells=[(0, 0)],
    ... )
    >>> lower_cells(units, seed=0)
    ([0.0005], [0.0005])
    """
    rng = np.random.default_rng(seed)
    total = len(units.labels)
    rows = max(1, _BLOCK // max(total, 1))
    observed = _means(units, np.arange(total)[None, :])
    blocks = (
        _means(units, _orders(units.strata, min(rows, draws - start), rng)) for start in range(0, draws, rows)
    )
    values = np.concatenate([observed, *blocks])
    deviations = values.std(axis=0)
    spread = np.where(deviations > _TOLERANCE, deviations, np.inf)
    scaled = (values - values.mean(axis=0)) / spread
    single = (scaled <= scaled[0] + _TOLERANCE).mean(axis=0)
    return single.tolist(), _adjusted(_pooled(scaled, spread, units))


def _orders(strata: Integers, count: int, rng: np.random.Generator) -> Integers:
    """Return random orders of the units within their strata, shape (count, units)."""
    order = np.argsort(rng.random((count, len(strata))) + strata, axis=1)  # keys below 1 keep strata apart
    row_order = np.argsort(strata, kind="stable")
    result = np.empty_like(order)
    result[:, row_order] = order
    return result


def _means(units: LabelledUnits, orders: Integers) -> Floats:
    """Return the mean of each cell by order of the labels, shape (orders, cells); 0 for an empty cell."""
    result: Floats = np.zeros((len(orders), len(units.cells)))
    by_value: dict[int, list[tuple[int, int]]] = {}
    for number, (value, column) in enumerate(units.cells):
        by_value.setdefault(value, []).append((number, column))
    by_label = np.ascontiguousarray(units.labels.T, dtype=np.float32)
    for value, members in by_value.items():
        labels = by_label[value].take(orders)
        columns = [column for _, column in members]
        sums = labels @ units.sums[:, columns].astype(np.float32)
        counts = labels @ units.counts[:, columns].astype(np.float32)
        result[:, [number for number, _ in members]] = sums / np.maximum(counts, 1.0)
    return result


def _pooled(scaled: Floats, spread: Floats, units: LabelledUnits) -> Floats:
    """Return the standardised means of cells by permutation, adjusted by the pools of their columns."""
    counted = units.counts > 0
    sizes = counted.sum(axis=0)
    centred = units.sums / np.maximum(units.counts, 1.0)
    variances = ((centred**2) * counted).sum(axis=0) / np.maximum(sizes - 1, 1)
    columns = np.array([column for _, column in units.cells])
    result = scaled.copy()
    for pool in np.unique(units.pools[columns]).tolist():
        members = np.unique(columns[units.pools[columns] == pool])
        members = members[(variances[members] > _TOLERANCE) & (sizes[members] >= _MIN_UNITS)]
        if len(members) < _MIN_COLUMNS:
            continue
        # Logarithms: variances are scaled by factors, and their sampling error then hardly depends on them.
        logs = np.log(variances[members])
        shrinkage = _shrinkage(logs, 2 / (sizes[members] - 2))
        means = units.means[members]
        shifts = _shrinkage(means, variances[members] / sizes[members]) * (means - means.mean())
        for column, shift in zip(members.tolist(), shifts.tolist(), strict=True):
            cells = np.flatnonzero(columns == column)
            # Without the part of the variance that a low cell itself causes; else it would hide itself.
            # It is computed for each permutation alike, which keeps the test exact.
            explained = np.minimum(scaled[:, cells] ** 2 / (sizes[column] - 1), _MAX_EXPLAINED)
            deviation = shrinkage * (float(logs.mean()) - math.log(variances[column]))
            residual = (1 - shrinkage) * np.log1p(-explained)
            result[:, cells] *= np.exp(-(deviation + residual) / 2)
            # The shift counts in the same unit as the cells: its column's shrunken deviation.
            result[:, cells] += shift / spread[cells] * math.exp(-deviation / 2)
    return result


def _shrinkage(values: Floats, noise: Floats) -> float:
    """Return the share of the variance of values that noise explains, at most 1.

    Args:
        values: at least two.
        noise: sampling variance of each.
    """
    expected = float(noise.mean())
    return expected / max(expected, float(values.var(ddof=1)))


def _adjusted(scaled: Floats) -> list[float]:
    order = np.argsort(scaled[0], kind="stable")
    ranked = scaled[:, order]
    smallest = np.minimum.accumulate(ranked[:, ::-1], axis=1)[:, ::-1]
    # Step-down: a cell is compared with the smallest of those that are not below it, and p never falls.
    p_values = np.maximum.accumulate((smallest <= ranked[0] + 1e-6).mean(axis=0))
    adjusted = np.empty(len(order))
    adjusted[order] = p_values
    return [float(value) for value in adjusted]
