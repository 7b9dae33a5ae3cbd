"""How well probabilities and verdicts agree with people's labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.engine.analysis.statistics import cohen_kappa, wilson_interval

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

BINS = 10


def calibration_error(chances: Floats, good: Booleans) -> float:
    """Expected calibration error: how far, on average, stated probabilities lie from the share of good
    answers.

    Probabilities fall into ten bins of equal width, the last of which holds 1.0; Σ |bin's share of good −
    bin's mean probability| × bin's share of the answers. With few answers it is above 0 even for a perfect
    curve.

    Returns:
        0.0 (they say what is) to 1.0.

    Source: Naeini, Cooper and Hauskrecht, 2015; Guo et al., 2017.

    >>> round(calibration_error(np.array([0.1, 0.1, 0.9, 0.9]), np.array([False, False, True, False])), 3)
    0.25
    """
    bins = np.minimum((chances * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(bins, weights=good - chances, minlength=BINS)
    return float(np.abs(gaps).sum() / len(good))


def brier_score(chances: Floats, good: Booleans) -> float:
    """Mean squared distance of stated probabilities from what is; 0.0 is best, 0.25 is had by always saying
    0.5.

    Source: Brier, 1950.

    >>> brier_score(np.array([1.0, 0.5]), np.array([True, False]))
    0.125
    """
    return float(np.mean((chances - good) ** 2))


def area_under_roc(scores: Floats, good: Booleans) -> float:
    """How often a good answer scores higher than a bad one, ties counted half.

    Args:
        scores: higher for better.
        good: both kinds must occur.

    Source: Hanley and McNeil, 1982.

    >>> area_under_roc(np.array([0.9, 0.4, 0.6]), np.array([True, False, False]))
    1.0
    """
    values = np.sort(scores[~good])
    below = np.searchsorted(values, scores[good], side="left")
    upto = np.searchsorted(values, scores[good], side="right")
    return float((below + upto).mean() / 2 / len(values))


def errors(passes: Booleans, good: Booleans) -> dict[str, Any]:
    """Where verdicts differ from people's, with 95 % intervals (Wilson).

    The null hypothesis is that the answer is good: `type_1`, the false alarm, is the share of good answers
    that fail; `type_2`, the miss, the share of bad answers that pass.

    Returns:
        {type_1, type_1_interval, type_2, type_2_interval, kappa}; None where there are none of a kind.
    """
    found: dict[str, Any] = {}
    for name, wrong, kind in (("type_1", ~passes & good, good), ("type_2", passes & ~good, ~good)):
        count, total = int(wrong.sum()), int(kind.sum())
        found[name] = count / total if total else None
        found[f"{name}_interval"] = wilson_interval(count, total) if total else None
    return {**found, "kappa": cohen_kappa(good.tolist(), passes.tolist())}
