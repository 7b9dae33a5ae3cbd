"""Confidence limits of a mean of bounded values, without an assumption on their distribution."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from pytest_evalstudio.stats.types import Floats

_MAX_KINDS = 48
"""Kinds of clusters that are distinguished; of more, those with nearly the same mean count as one kind."""
_STEP = 0.125
_NODES = np.arange(0.0, 14.0, _STEP).reshape(4, -1)
"""Nodes of the integration, in blocks; the later blocks matter for few clusters only."""
_WEIGHTS = np.where(_NODES == 0.0, 0.5, 1.0) * _STEP / math.pi
_NEGLIGIBLE = 1e-12
_HALVINGS = 40  # the saddle point need not be exact: each contour near it gives the same integral
_MAX_STEPS = 60
_TOLERANCE = 1e-6
"""Precision of a limit, as a share of the distance from the minimum to the mean."""
_NORMAL = NormalDist()


def mean_lower_limit(sums: Floats, counts: Floats, *, minimum: float, error: float) -> float:
    """Return the lower confidence limit of a mean of values that are never below a minimum.

    Each cluster gets a random weight of the flat Dirichlet distribution, and so does one more cluster whose
    values are all the minimum. The limit is the quantile `error` of the weighted mean, computed exactly. It
    is never equal to the mean of the values, also where all of them are equal. For values of 0 and 1 it is
    the limit of Clopper and Pearson. For differences of yes/no pairs it is above 0 exactly where McNemar's
    exact test rejects.

    That the error is never above `error` is proven for values of 0 and 1, and conjectured for others by its
    authors; for yes/no pairs it is enumerated in `tests/benchmarks/regression_power.py`.

    Own code: no library of the core or its extras has this limit.

    Args:
        sums: shape (clusters,), at least one; the sum of each cluster's values.
        counts: shape (clusters,); the number of these values, at least 1.
        minimum: of the values.
        error: probability that the mean is below the limit, between 0 and 1.

    Source: Gaffke, 2005 (Mathematical Methods of Statistics 14); Learned-Miller and Thomas, 2019 (arXiv
        1905.06208); saddle point integration of Helstrom, 1978 (IEEE Transactions on Aerospace and Electronic
        Systems 14, 630–640).

    >>> round(mean_lower_limit(np.ones(10), np.ones(10), minimum=0.0, error=0.05), 6)
    0.741134
    >>> round(0.05 ** (1 / 10), 6)
    0.741134
    """
    means, sizes, weights = _kinds(sums, counts)
    low = min(minimum, float(means.min()))
    means = np.append(means, low)
    sizes = np.append(sizes, float(counts.max()))
    weights = np.append(weights, 1.0)
    high = float(means.max())
    if high <= low:
        return low
    target = _NORMAL.inv_cdf(error)
    mean = float((weights * sizes * means).sum() / (weights * sizes).sum())
    start, end = low, high
    point = low + (mean - low) * (1 - error) / 2
    last: tuple[float, float] | None = None
    for step in range(_MAX_STEPS):
        excess = _score(_share_below(sizes * (means - point), weights)) - target
        if excess < 0:
            start = point
        else:
            end = point
        if end - start <= _TOLERANCE * (mean - low):
            break
        following = (start + end) / 2
        if last is not None and step % 4 and excess != last[1]:  # nearly linear in the normal score
            secant = point - excess * (point - last[0]) / (excess - last[1])
            following = secant if start < secant < end else following
        if abs(following - point) <= _TOLERANCE * (mean - low):
            break
        last, point = (point, excess), following
    return point


def _score(share: float) -> float:
    """Return the normal score of a probability; 0 and 1 have a finite one."""
    return _NORMAL.inv_cdf(min(max(share, 1e-12), 1 - 1e-12))


def _kinds(sums: Floats, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, size and number of each kind of clusters.

    Of many clusters, those of one size whose means differ by less than 1 / 48 of the range are one kind, at
    their mean. Values of yes/no pairs are kept apart exactly.
    """
    means = sums / counts
    if len(means) <= _MAX_KINDS:
        return means, counts, np.ones(len(means))
    low, width = float(means.min()), float(np.ptp(means))
    bins = np.floor((means - low) * ((_MAX_KINDS - 1) / width)) if width > 0 else np.zeros(len(means))
    sizes, size_numbers = np.unique(counts, return_inverse=True)
    keys = bins.astype(np.int64) * len(sizes) + size_numbers
    numbers = np.bincount(keys)
    indices = np.flatnonzero(numbers)
    numbers = numbers[indices]
    return (
        np.bincount(keys, means)[indices] / numbers,
        sizes[indices % len(sizes)],
        numbers.astype(np.float64),
    )


def _share_below(values: Floats, weights: Floats) -> float:
    """Return the probability that a sum of exponential variables times values is at most zero.

    The contour of the inversion integral passes the saddle point, so that the integrand does not oscillate.

    Args:
        values: shape (kinds,); the factor of the variables of each kind.
        weights: shape (kinds,); the number of these variables.
    """
    mask = values != 0
    values, weights = values[mask], weights[mask]
    if not (values > 0).any():
        return 1.0
    if not (values < 0).any():
        return 0.0
    values = values / np.abs(values).max()  # only the ratios count; reciprocals of 1e308 would be zero
    start, end = 1 / float(values.min()), 0.0
    for _ in range(_HALVINGS):
        point = (start + end) / 2
        if float((weights * values / (1 - point * values)).sum()) > 1 / point:
            end = point
        else:
            start = point
    curvature = float((weights * (values / (1 - point * values)) ** 2).sum()) + 1 / point**2
    scale = 1 / math.sqrt(curvature)
    total = 0.0
    for nodes, step in zip(_NODES, _WEIGHTS, strict=True):
        contour = point + 1j * scale * np.sinh(nodes)
        logs = np.log(1 - np.outer(contour, values)) @ weights
        parts = step * scale * np.cosh(nodes) * np.real(-np.exp(-logs) / contour)
        total += float(parts.sum())
        if abs(float(parts[-1])) < _NEGLIGIBLE:
            break
    return total
