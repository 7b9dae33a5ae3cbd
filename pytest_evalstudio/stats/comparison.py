"""One-sided tests of two samples, and the correction for several tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.types import Floats, Integers

# The exact distribution takes time and memory in the product of both; larger samples need none.
_MAX_EXACT_VALUES = 25
_MAX_EXACT_TOTAL = 600


def fisher_fewer_passes(passed: int, total: int, other_passed: int, other_total: int) -> float:
    """Return p of Fisher's exact test that passes are rarer in the first sample; one-sided.

    Args:
        passed: passes of the first sample.
        total: cases of the first sample.
        other_passed: passes of the second sample.
        other_total: cases of the second sample.

    Returns:
        p, 0.0 to 1.0; small where passes are rarer in the first sample.

    Source: Fisher, 1922 (Journal of the Royal Statistical Society 85, 87–94).

    >>> round(fisher_fewer_passes(0, 4, 4, 4), 4)
    0.0143
    """
    table = [[total - passed, passed], [other_total - other_passed, other_passed]]
    return float(
        import_extra("scipy.stats", "Fisher's exact test").fisher_exact(table, alternative="greater")[1]
    )


def mann_whitney_lower(values: Floats, others: Floats) -> float:
    """Return p of the Mann–Whitney test that values are lower than others; one-sided.

    Exact, ties included, for up to 25 values among up to 600: with skewed scores the normal approximation
    flags small samples too often. Beyond that it is the approximation, corrected for ties and continuity.
    The exact part is own code: scipy's exact method does not support ties.

    Args:
        values: one-dimensional, at least one score each.
        others: one-dimensional, at least one score each.

    Returns:
        p, 0.0 to 1.0; small where values are lower.

    Source: Mann and Whitney, 1947 (Annals of Mathematical Statistics 18, 50–60); Streitberg and Röhmel, 1986
        (shift algorithm).

    >>> round(mann_whitney_lower(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])), 4)
    0.05
    """
    if values.min() == values.max() == others.min() == others.max():
        return 1.0
    stats = import_extra("scipy.stats", "the Mann–Whitney test")
    if len(values) <= _MAX_EXACT_VALUES and len(values) + len(others) <= _MAX_EXACT_TOTAL:
        doubled = np.rint(2 * stats.rankdata(np.concatenate([values, others]))).astype(np.int64)
        return _rank_sum_tail(doubled, len(values))
    return float(stats.mannwhitneyu(values, others, alternative="less").pvalue)


def _rank_sum_tail(ranks: Integers, size: int) -> float:
    """Return the share of all choices of `size` ranks whose sum is at most that of the first `size`."""
    observed = int(ranks[:size].sum())
    counts = np.zeros((size + 1, observed + 1))  # choices by number of ranks and their sum
    counts[0, 0] = 1.0
    greatest = 0
    for number, rank in enumerate(sorted(rank for rank in ranks.tolist() if rank <= observed), 1):
        greatest = min(observed, greatest + rank)
        rows, columns = min(number, size), greatest + 1  # all other counts are still 0
        counts[1 : rows + 1, rank:columns] += counts[:rows, : columns - rank].copy()
    return min(1.0, float(counts[size].sum()) / math.comb(len(ranks), size))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for the number of tests; the tests may depend on each other.

    The probability of any false finding stays below the level. Own code: a step that needs no extra uses it,
    and importing statsmodels takes longer than most steps.

    Args:
        p_values: 0.0 to 1.0, in any order.

    Returns:
        Adjusted p values in the same order, each at least as large as the original.

    Source: Holm, 1979 (Scandinavian Journal of Statistics 6, 65–70).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
