"""Bootstrap intervals of means whose values come in clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.stats.ranking import percentiles
from pytest_evalstudio.stats.types import LEVEL, Floats, Interval

REPLICATES = 1_000  # 25 replicates lie beyond each end of a 95 % interval
SEED = 20_250_101
_DRAWS_AT_ONCE = 250_000
_CLUSTERS_PER_KIND = 20
"""Clusters for each kind of equal ones from which on it is faster to draw kinds."""


def cluster_bootstrap_interval(
    values: Sequence[float] | Floats,
    clusters: Sequence[int] | npt.NDArray[np.int64],
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> Interval | None:
    """Return the percentile interval of a mean of clustered values.

    Whole clusters (an original case with its perturbations and repeats) are drawn with replacement. The mean
    of a draw is the sum of its values divided by their number.

    Own code: `scipy.stats.bootstrap` does not resample clusters, and is not installed with the core.

    Args:
        values: one per row.
        clusters: one per row, the number of its cluster, from 0.
        level: coverage, between 0 and 1.
        replicates: number of draws.
        seed: of the draws; the same seed gives the same interval.

    Returns:
        Lower and upper bound; None for fewer than two clusters.

    Source: Davison and Hinkley, 1997, section 3.8 (resampling at the highest level of a hierarchy).

    >>> cluster_bootstrap_interval([1.0, 1.0, 1.0], [0, 1, 2])
    (1.0, 1.0)
    >>> cluster_bootstrap_interval([0.2, 0.9], [0, 0]) is None
    True
    """
    numbers = np.asarray(values, dtype=np.float64)
    groups = np.asarray(clusters, dtype=np.int64)
    if not numbers.size:
        return None
    _, groups = np.unique(groups, return_inverse=True)
    sums: Floats = np.bincount(groups, weights=numbers)[:, None].astype(np.float64)
    counts = np.bincount(groups)[:, None].astype(np.float64)
    return cluster_bootstrap_intervals(sums, counts, level=level, replicates=replicates, seed=seed)[0]


def cluster_bootstrap_intervals(
    sums: Floats, counts: Floats, *, level: float = LEVEL, replicates: int = REPLICATES, seed: int = SEED
) -> list[Interval | None]:
    """Return `cluster_bootstrap_interval` of many means at once, over the same draws of clusters.

    Args:
        sums: shape (clusters, means); the sum of each cluster's values.
        counts: shape (clusters, means); the number of these values, 0 where a mean has none in the cluster.
        level: as in `cluster_bootstrap_interval`.
        replicates: as in `cluster_bootstrap_interval`.
        seed: as in `cluster_bootstrap_interval`.

    Returns:
        One interval per mean; None where fewer than two clusters hold values. Draws without any value of a
        mean are left out of its interval.

    >>> cluster_bootstrap_intervals(np.ones((3, 2)), np.ones((3, 2)))
    [(1.0, 1.0), (1.0, 1.0)]
    """
    means = drawn_means(sums, counts, replicates, seed)
    tails = [50 * (1 - level), 50 * (1 + level)]
    filled = (counts > 0).sum(axis=0)
    intervals: list[Interval | None] = []
    for column in range(sums.shape[1]):
        usable = means[:, column][np.isfinite(means[:, column])]
        if filled[column] < 2 or not usable.size:
            intervals.append(None)
            continue
        low, high = percentiles(usable, tails)
        intervals.append((low, high))
    return intervals


def drawn_means_by_kind(sums: Floats, counts: Floats, replicates: int, seed: int) -> Floats:
    """Return the means of all draws of clusters, as `drawn_means`, in less time if many clusters are equal.

    The numbers of draws of each kind of equal clusters have a multinomial distribution. They are drawn in
    place of single clusters where there are few kinds.

    Args:
        sums, counts, replicates, seed: as in `cluster_bootstrap_intervals`.

    Returns:
        NaN where a draw holds no value.

    >>> drawn_means_by_kind(np.ones((100, 1)), np.ones((100, 1)), 2, 0).tolist()
    [[1.0], [1.0]]
    """
    total, width = sums.shape
    rows = np.hstack((sums, counts))
    sizes = Counter(row.tobytes() for row in rows)
    if len(sizes) * _CLUSTERS_PER_KIND > total:
        return drawn_means(sums, counts, replicates, seed)
    kinds = np.frombuffer(b"".join(sizes), dtype=np.float64).reshape(len(sizes), 2 * width)
    weights = np.random.default_rng(seed).multinomial(
        total, np.array([*sizes.values()]) / total, size=replicates
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights @ kinds[:, :width]) / (weights @ kinds[:, width:])


def drawn_means(sums: Floats, counts: Floats, replicates: int, seed: int) -> Floats:
    """Return the means of all draws of clusters, shape (replicates, means).

    Args:
        sums, counts, replicates, seed: as in `cluster_bootstrap_intervals`.

    Returns:
        NaN where a draw holds no value.

    >>> drawn_means(np.ones((3, 1)), np.ones((3, 1)), 2, 0).tolist()
    [[1.0], [1.0]]
    """
    total, width = sums.shape
    rng = np.random.default_rng(seed)
    means = np.empty((replicates, width))
    block = max(1, _DRAWS_AT_ONCE // max(1, total))  # bounds memory
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        drawn = rng.integers(0, total, size=(size, total), dtype=np.uint32)
        weights = np.empty((size, total))
        for row, clusters in enumerate(drawn):
            weights[row] = np.bincount(clusters, minlength=total)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start : start + size] = (weights @ sums) / (weights @ counts)
    return means
