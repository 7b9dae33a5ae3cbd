"""Bootstrap intervals of any statistic over answers, where whole questions are drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytest_evalstudio.stats.bca import cluster_bca_intervals
from pytest_evalstudio.stats.bootstrap import REPLICATES, SEED
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import LEVEL, Booleans, Floats, Integers, Interval

_CELLS = 2_000_000
"""Weights held in memory at once."""


def share_interval(
    hits: Booleans, among: Booleans, clusters: Integers, *, level: float = LEVEL, seed: int = SEED
) -> tuple[float, Interval] | None:
    """Return a share of clustered answers with an interval that draws whole clusters.

    The bootstrap says nothing of a share of 0 or 1, and too little of a single cluster. There, the interval
    is Wilson's with the number of clusters in place of the number of answers.

    Args:
        hits: shape (n,); answers that are counted.
        among: shape (n,); answers that the share is of.
        clusters: shape (n,); number of each answer's question.
        level: coverage, between 0 and 1.
        seed: of the draws.

    Returns:
        The share, 0.0 to 1.0, and its interval; None if `among` has no answer.

    Source: Efron, 1987; Davison and Hinkley, 1997, section 3.8 (clusters); Wilson, 1927.

    >>> everything = np.ones(8, dtype=bool)
    >>> share, (low, high) = share_interval(everything, everything, np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    >>> share, round(low, 3), high
    (1.0, 0.51, 1.0)
    """
    count = int(among.sum())
    if not count:
        return None
    groups = np.unique(clusters[among], return_inverse=True)[1]
    successes = int((hits & among).sum())
    share = successes / count
    sums = np.bincount(groups, weights=hits[among])[:, None].astype(np.float64)
    counts = np.bincount(groups)[:, None].astype(np.float64)
    total = len(sums)
    if successes in (0, count) or total < 2:
        return share, wilson_interval(share * total, total, level=level)
    (interval,) = cluster_bca_intervals(sums, counts, level=level, seed=seed)
    return share, interval if interval is not None else wilson_interval(share * total, total, level=level)


def mean_interval_of_clusters(
    values: Floats, clusters: Integers, *, level: float = LEVEL, seed: int = SEED
) -> Interval | None:
    """Return the interval of a mean of clustered values; None for fewer than two clusters.

    Args:
        values: shape (n,).
        clusters: shape (n,); number of each value's question.
        level: coverage, between 0 and 1.
        seed: of the draws.

    >>> mean_interval_of_clusters(np.array([1.0, 1.0, 1.0]), np.array([0, 1, 2]))
    (1.0, 1.0)
    """
    groups = np.unique(clusters, return_inverse=True)[1]
    sums = np.bincount(groups, weights=values)[:, None].astype(np.float64)
    counts = np.bincount(groups)[:, None].astype(np.float64)
    return cluster_bca_intervals(sums, counts, level=level, seed=seed)[0]


def cluster_interval(
    statistic: Callable[[Floats], Floats],
    clusters: Integers,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> Interval | None:
    """Return the percentile interval of a statistic over draws of whole clusters.

    Own code: `scipy.stats.bootstrap` does not resample clusters.

    Args:
        statistic: maps weights of the answers, shape (draws, n), to its value for each draw, NaN where it has
            none.
        clusters: shape (n,); number of each answer's question.
        level: coverage, between 0 and 1.
        replicates: number of draws.
        seed: of the draws.

    Returns:
        Lower and upper bound; None for fewer than two clusters, or where most draws have no value.

    Source: Davison and Hinkley, 1997, section 3.8.

    >>> values = np.array([0.0, 1.0, 1.0, 1.0])
    >>> low, high = cluster_interval(lambda weights: weights @ values / weights.sum(axis=1), np.arange(4))
    >>> 0.0 <= low < 0.75 < high <= 1.0
    True
    """
    groups = np.unique(clusters, return_inverse=True)[1]
    total = int(groups.max(initial=-1)) + 1
    if total < 2:
        return None
    rng = np.random.default_rng(seed)
    block = max(1, _CELLS // max(1, len(groups)))
    values = []
    for start in range(0, replicates, block):
        drawn = rng.multinomial(total, np.full(total, 1 / total), size=min(block, replicates - start))
        values.append(statistic(drawn[:, groups].astype(np.float64)))
    usable = np.concatenate(values)
    usable = usable[np.isfinite(usable)]
    if len(usable) < replicates / 2:
        return None
    low, high = np.percentile(usable, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)


def weighted_area_under_roc(scores: Floats, good: Booleans, weights: Floats) -> Floats:
    """Return the area under the ROC curve for each row of weights, ties counted half.

    Args:
        scores: shape (n,); higher is better.
        good: shape (n,), labels.
        weights: shape (draws, n), not negative.

    Returns:
        Shape (draws,), 0.0 to 1.0; NaN where good or bad answers have no weight.

    Source: Hanley and McNeil, 1982 (Radiology 143, 29–36).

    >>> weighted_area_under_roc(np.array([0.1, 0.9]), np.array([False, True]), np.ones((1, 2))).tolist()
    [1.0]
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)
    sorted_weights = weights[:, order]
    goods = np.add.reduceat(sorted_weights * good[order], starts, axis=1)
    bads = np.add.reduceat(sorted_weights * ~good[order], starts, axis=1)
    below = np.cumsum(bads, axis=1) - bads / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((goods * below).sum(axis=1) / (goods.sum(axis=1) * bads.sum(axis=1)))


def weighted_quadratic_kappa(first: Floats, second: Floats, weights: Floats) -> Floats:
    """Return the quadratic kappa of two raters' grades for each row of weights; see `agreement`.

    Args:
        first, second: shape (n,).
        weights: shape (draws, n), not negative.

    Returns:
        Shape (draws,); NaN where nothing varies.

    Source: Cohen, 1968 (Psychological Bulletin 70, 213–220).

    >>> grades = np.array([1.0, 2.0, 3.0])
    >>> weighted_quadratic_kappa(grades, np.array([1.0, 2.0, 2.0]), np.ones((1, 3))).round(3).tolist()
    [0.667]
    """
    total = weights.sum(axis=1)
    mean, other_mean = weights @ first / total, weights @ second / total
    spread = weights @ first**2 / total - mean**2
    other_spread = weights @ second**2 / total - other_mean**2
    expected = spread + other_spread + (mean - other_mean) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = weights @ (first - second) ** 2 / total
        return np.asarray(np.where(expected > 1e-12, 1 - observed / expected, np.nan))


def weighted_kappa(first: Booleans, second: Booleans, weights: Floats) -> Floats:
    """Return Cohen's kappa of two binary ratings for each row of weights.

    Args:
        first, second: shape (n,).
        weights: shape (draws, n), not negative.

    Returns:
        Shape (draws,); NaN where nothing varies.

    Source: Cohen, 1960 (Educational and Psychological Measurement 20, 37–46).

    >>> weighted_kappa(np.array([True, False]), np.array([True, False]), np.ones((1, 2))).tolist()
    [1.0]
    """
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        same = weights @ (first == second) / total
        first_mean, other = weights @ first / total, weights @ second / total
        expected = first_mean * other + (1 - first_mean) * (1 - other)
        return np.asarray(np.where(expected < 1, (same - expected) / (1 - expected), np.nan))
