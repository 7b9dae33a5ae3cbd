"""Bias-corrected and accelerated bootstrap intervals of means whose values come in clusters."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from pytest_evalstudio.stats.bootstrap import SEED, drawn_means_by_kind
from pytest_evalstudio.stats.ranking import percentiles
from pytest_evalstudio.stats.types import LEVEL, Floats, Interval

REPLICATES = 2_000  # tails of BCa shift with the correction, so that they need more than a plain percentile
_NORMAL = NormalDist()


def cluster_bca_intervals(
    sums: Floats, counts: Floats, *, level: float = LEVEL, replicates: int = REPLICATES, seed: int = SEED
) -> list[Interval | None]:
    """Return intervals of many means over the same draws of clusters.

    Whole clusters (an original case with its perturbations and repeats) are drawn with replacement. Own code:
    `scipy.stats.bootstrap` does not resample clusters, and is not installed with the core.

    Args:
        sums: shape (clusters, means); the sum of each cluster's values.
        counts: shape (clusters, means); the number of these values, 0 where a mean has none in the cluster.
        level: coverage, between 0 and 1.
        replicates: number of draws.
        seed: of the draws; the same seed gives the same intervals.

    Returns:
        One interval per mean; None where fewer than two clusters hold values. Draws without any value of a
        mean are left out of its interval.

    Source: Efron, 1987 (JASA 82, 171–185); Davison and Hinkley, 1997, section 3.8 (clusters).

    >>> [(low, high)] = cluster_bca_intervals(np.array([[0.0], [1.0], [1.0], [1.0]]), np.ones((4, 1)))
    >>> 0.0 <= low < 0.75 < high <= 1.0
    True
    """
    drawn = drawn_means_by_kind(sums, counts, replicates, seed)
    return [
        _interval(drawn[:, column], sums[:, column], counts[:, column], level)
        for column in range(sums.shape[1])
    ]


def _interval(drawn: Floats, sums: Floats, counts: Floats, level: float) -> Interval | None:
    held = counts > 0
    drawn = drawn[np.isfinite(drawn)]
    if held.sum() < 2 or not drawn.size:
        return None
    sums, counts = sums[held], counts[held]
    mean = sums.sum() / counts.sum()
    if np.ptp(drawn) == 0.0:
        return float(drawn[0]), float(drawn[0])
    below = float((drawn < mean).mean() + (drawn == mean).mean() / 2)
    margin = 0.5 / len(drawn)
    bias = _NORMAL.inv_cdf(min(max(below, margin), 1 - margin))
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (sums.sum() - sums) / (counts.sum() - counts)
    deviation = without.mean() - without
    scale = float((deviation**2).sum()) ** 1.5
    acceleration = float((deviation**3).sum()) / (6 * scale) if scale > 0 else 0.0
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + _NORMAL.inv_cdf(tail)
        ends.append(100 * _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted)))
    low, high = percentiles(drawn, ends)
    return low, high
