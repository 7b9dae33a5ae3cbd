"""Kernel density estimation on a bounded range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.stats.types import Floats


def density(values: Sequence[float], points: Floats, low: float, high: float) -> Floats:
    """Return the Gaussian kernel density of values, reflected at the ends of the range.

    The bandwidth is Silverman's: 0.9 × min(standard deviation, interquartile range / 1.349) × n^(−1/5).
    Own code: scipy's `gaussian_kde` does not reflect, so that mass would leave the range.

    Args:
        values: at least two different scores.
        points: shape (p,), within the range.
        low: lower end of the range.
        high: upper end of the range.

    Returns:
        Density at each point, shape (p,).

    Source: Silverman, 1986 (Density Estimation for Statistics and Data Analysis, sections 2.10 and 3.4).

    >>> density([0.4, 0.6], np.array([0.5]), 0.0, 1.0).round(2)
    array([1.56])
    """
    data = np.asarray(values, dtype=np.float64)
    first, third = np.percentile(data, (25, 75))
    deviation = float(np.std(data, ddof=1))
    spread = min(deviation, float(third - first) / 1.349) or deviation
    width = 0.9 * spread * len(data) ** -0.2
    reflected = np.concatenate([data, 2 * low - data, 2 * high - data])
    kernels = np.exp(-0.5 * ((points[:, None] - reflected[None, :]) / width) ** 2)
    return np.asarray(kernels.sum(axis=1) / (len(data) * width * np.sqrt(2 * np.pi)))
