"""The Kolmogorov–Smirnov test, exact with ties."""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.stats.types import Floats


def kolmogorov_smirnov_lower(values: Floats, others: Floats) -> tuple[float, float]:
    """Return statistic and p of the test that values are somewhere more often low than others; one-sided.

    Exact for all sizes and ties: given the pooled scores, every choice of as many of them is equally likely.
    For binary scores it equals Fisher's exact test. Own code: scipy's `ks_2samp` ignores ties.

    Args:
        values: one-dimensional, at least one score each.
        others: one-dimensional, at least one score each.

    Returns:
        D+, the largest difference of the two cumulative shares, 0.0 to 1.0, and its p.

    Source: Smirnov, 1939; Schröer and Trenkler, 1995 (Computational Statistics & Data Analysis 20, 185–202;
        exact distribution with ties).

    >>> statistic, p_value = kolmogorov_smirnov_lower(np.array([0.1, 0.2]), np.array([0.8, 0.9]))
    >>> statistic, round(p_value, 4)
    (1.0, 0.1667)
    """
    size, other_size = len(values), len(others)
    points, counts = np.unique(np.round(np.concatenate([values, others]), 12), return_counts=True)
    below = np.searchsorted(np.sort(np.round(values, 12)), points, side="right") / size
    other_below = np.searchsorted(np.sort(np.round(others, 12)), points, side="right") / other_size
    statistic = max(0.0, float((below - other_below).max()))
    if statistic == 0.0:
        return 0.0, 1.0
    steps = np.arange(size + 1)
    probabilities = np.zeros(size + 1)
    probabilities[0], tail, count_passed = 1.0, 0.0, 0
    for count in counts.tolist():
        for _ in range(count):
            step = (size - steps) / (size + other_size - count_passed)
            shifted = np.concatenate([[0.0], (probabilities * step)[:-1]])
            probabilities = probabilities * (1 - step) + shifted
            count_passed += 1
        reached = steps / size - (count_passed - steps) / other_size >= statistic - 1e-12
        tail += float(probabilities[reached].sum())
        probabilities[reached] = 0.0
    return statistic, min(1.0, tail)
