"""Distributions for pictures: a smooth density, and a mean with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.engine.analysis.statistics import LEVEL, Interval, wilson_interval
from pytest_evalstudio.mrm.extra import needed

Floats = npt.NDArray[np.float64]


def density(values: Sequence[float], points: Floats, low: float, high: float) -> Floats:
    """Gaussian kernel density; what a kernel has beyond the ends of the range is reflected into it.

    The band width is Silverman's, 0.9 × min(standard deviation, quartile distance / 1.349) × n^(-1/5).

    Args:
        values: two different ones at least.
        points: where it is wanted, within the range.

    Source: Silverman, 1986 (Density Estimation for Statistics and Data Analysis, sections 2.10 and 3.4).
    """
    data = np.asarray(values, dtype=np.float64)
    first, third = np.percentile(data, (25, 75))
    spread = float(np.std(data, ddof=1))
    narrow = min(spread, float(third - first) / 1.349) or spread
    width = 0.9 * narrow * len(data) ** -0.2
    reflected = np.concatenate([data, 2 * low - data, 2 * high - data])
    kernels = np.exp(-0.5 * ((points[:, None] - reflected[None, :]) / width) ** 2)
    return np.asarray(kernels.sum(axis=1) / (len(data) * width * np.sqrt(2 * np.pi)))


def is_share(values: Sequence[float]) -> bool:
    """Whether values are passes and failures."""
    return set(values) <= {0.0, 1.0}


def mean_interval(values: Sequence[float], low: float, high: float) -> Interval | None:
    """The 95 % interval of a mean: Wilson's of a share, else Student's, cut at the ends of the range; None
    for a single score.

    Source: Wilson, 1927; Student, 1908.

    >>> low, high = mean_interval([1.0, 2.0, 3.0], 0.0, 10.0)
    >>> low, round(high, 4)
    (0.0, 4.4841)
    """
    if is_share(values):
        return wilson_interval(round(sum(values)), len(values))
    if len(values) < 2:
        return None
    data = np.asarray(values, dtype=np.float64)
    quantile = needed("scipy.stats", "intervals of means").t.ppf(0.5 + LEVEL / 2, len(data) - 1)
    half = float(quantile * np.std(data, ddof=1) / np.sqrt(len(data)))
    return max(low, float(data.mean()) - half), min(high, float(data.mean()) + half)
