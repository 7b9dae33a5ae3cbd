"""Is a distribution of scores lower than another one, anywhere: the Kolmogorov–Smirnov test, ties
included.
"""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.mrm.statistics.comparing import Floats


def lower_somewhere(values: Floats, others: Floats) -> tuple[float, float]:
    """The one-sided Kolmogorov–Smirnov test that values are at no point more often as low as others are.

    Exact for any sizes and ties: given all the scores together, every choice of so many of them is as likely.
    For scores that are yes or no it is Fisher's exact test.

    Returns:
        D+, the greatest difference of the two cumulative shares, 0.0 to 1.0, and its p.

    Source: Smirnov, 1939; Schröer and Trenkler, 1995 (Computational Statistics & Data Analysis 20, 185–202;
        exact distribution with ties).

    >>> lower_somewhere(np.array([0.1, 0.2]), np.array([0.8, 0.9]))
    (1.0, 0.16666666666666666)
    """
    few, many = len(values), len(others)
    points, sizes = np.unique(np.round(np.concatenate([values, others]), 12), return_counts=True)
    below = np.searchsorted(np.sort(np.round(values, 12)), points, side="right") / few
    other_below = np.searchsorted(np.sort(np.round(others, 12)), points, side="right") / many
    statistic = max(0.0, float((below - other_below).max()))
    if statistic == 0.0:
        return 0.0, 1.0
    taken = np.arange(few + 1)
    chances = np.zeros(few + 1)
    chances[0], beyond, seen = 1.0, 0.0, 0
    for size in sizes.tolist():
        for _ in range(size):
            step = (few - taken) / (few + many - seen)
            chances = chances * (1 - step) + np.concatenate([[0.0], (chances * step)[:-1]])
            seen += 1
        reached = taken / few - (seen - taken) / many >= statistic - 1e-12
        beyond += float(chances[reached].sum())
        chances[reached] = 0.0
    return statistic, min(1.0, beyond)
