"""Parts of the curves that map scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.types import Booleans, Floats

_HALVINGS = 60  # a float has 53 bits


def platt_targets(good: Booleans) -> Floats:
    """Return Platt's targets in place of 1 and 0: (good + 1) / (good + 2) and 1 / (bad + 2).

    With these targets, a score that separates the labels perfectly gets finite weights. Own code:
    scikit-learn has them in its private Platt scaling only.

    Args:
        good: shape (n,), labels.

    Returns:
        Shape (n,), between 0.0 and 1.0.

    Source: Platt, 1999, Probabilistic outputs for support vector machines, section 2.2.

    >>> platt_targets(np.array([True, True, False])).round(3).tolist()
    [0.75, 0.75, 0.333]
    """
    positives = int(good.sum())
    return np.where(good, (positives + 1) / (positives + 2), 1 / (len(good) - positives + 2))


def centred_isotonic(scores: Floats, good: Booleans, *, increasing: bool) -> tuple[list[float], list[float]]:
    """Return the points of a centred isotonic regression, to be joined by lines.

    Each level stretch of an isotonic regression (scikit-learn's) becomes a point at the mean of its scores,
    so that different scores have different probabilities. Stretches at 0 and 1 keep both ends, because no
    probability lies beyond.

    Args:
        scores: shape (n,).
        good: shape (n,), labels.
        increasing: True if higher scores are better.

    Returns:
        Scores in rising order, and the probability at each.

    Source: Oron and Flournoy, 2017, Centered isotonic regression (with the default of their package `cir` at
        the bounds).

    >>> centred_isotonic(np.array([1.0, 2.0, 3.0]), np.array([False, True, True]), increasing=True)
    ([1.0, 2.0, 3.0], [0.0, 1.0, 1.0])
    """
    regression = import_extra("sklearn.isotonic", "calibrating").IsotonicRegression(
        y_min=0.0, y_max=1.0, increasing=increasing
    )
    values = np.sort(scores)
    levels = np.clip(regression.fit(scores, good.astype(np.float64)).predict(values), 0.0, 1.0)
    x: list[float] = []
    p: list[float] = []
    for stretch in np.split(np.arange(len(values)), np.flatnonzero(np.diff(levels)) + 1):
        low, high, level = values[stretch[0]], values[stretch[-1]], float(levels[stretch[0]])
        ends = [low, high] if level in (0.0, 1.0) and low < high else [values[stretch].mean()]
        x += map(float, ends)
        p += [level] * len(ends)
    return x, p


def step_table(curve: Callable[[Floats], Floats], values: Floats) -> tuple[list[float], list[float]]:
    """Return a monotone step function as a table, each step located by bisection between two values.

    Args:
        curve: maps scores, shape (n,), to probabilities, shape (n,).
        values: scores in rising order that hold at most one step between neighbours.

    Returns:
        Scores at which the function steps, and the probability before the first and after each step.

    >>> step_table(lambda scores: (scores > 0.25).astype(float), np.array([0.0, 1.0]))
    ([0.25], [0.0, 1.0])
    """
    at = curve(values)
    gaps = np.flatnonzero(at[1:] != at[:-1])
    low, high = values[gaps], values[gaps + 1]
    for _ in range(_HALVINGS if len(gaps) else 0):
        middle = low + (high - low) / 2
        is_low = curve(middle) == at[gaps]
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return low.tolist(), [float(at[0]), *at[gaps + 1].tolist()]
