"""Agreement of probabilities and verdicts with binary labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import Booleans, Floats, Interval

BINS = 10


def calibration_error(probabilities: Floats, good: Booleans) -> float:
    """Return the expected calibration error over ten bins of equal width.

    Σ |bin's share of good − bin's mean probability| × bin's share of the answers; the last bin includes 1.0.
    With few answers it is above 0 even for a perfect curve. Own code: scikit-learn has no such function.

    Args:
        probabilities: shape (n,), 0.0 to 1.0.
        good: shape (n,).

    Returns:
        0.0 (calibrated) to 1.0; lower is better.

    Source: Naeini, Cooper and Hauskrecht, 2015; Guo et al., 2017.

    >>> round(calibration_error(np.array([0.1, 0.1, 0.9, 0.9]), np.array([False, False, True, False])), 3)
    0.25
    """
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(bins, weights=good - probabilities, minlength=BINS)
    return float(np.abs(gaps).sum() / len(good))


def brier_score(probabilities: Floats, good: Booleans) -> float:
    """Return the mean squared distance of probabilities from labels.

    Args:
        probabilities: shape (n,), 0.0 to 1.0.
        good: shape (n,).

    Returns:
        0.0 (best) to 1.0; 0.25 for a constant probability of 0.5.

    Source: Brier, 1950 (Monthly Weather Review 78, 1–3); scikit-learn's `brier_score_loss`.

    >>> brier_score(np.array([1.0, 0.5]), np.array([True, False]))
    0.125
    """
    metrics = import_extra("sklearn.metrics", "calibrating")
    return float(metrics.brier_score_loss(good, probabilities, pos_label=True))


def area_under_roc(scores: Floats, good: Booleans) -> float:
    """Return the probability that a good answer scores higher than a bad one, ties counted half.

    Args:
        scores: shape (n,); higher is better.
        good: shape (n,); both labels must occur.

    Returns:
        0.0 to 1.0; 0.5 for scores that say nothing.

    Source: Hanley and McNeil, 1982 (Radiology 143, 29–36); scikit-learn's `roc_auc_score`.

    >>> area_under_roc(np.array([0.9, 0.4, 0.6]), np.array([True, False, False]))
    1.0
    """
    return float(import_extra("sklearn.metrics", "calibrating").roc_auc_score(good, scores))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """Shares of wrong verdicts, with 95 % intervals (Wilson), where the null hypothesis is a good answer.

    Attributes:
        type_1: share of good answers that fail (false alarms); None without good answers.
        type_2: share of bad answers that pass (misses); None without bad answers.
        kappa: Cohen's, of verdicts and labels; None where nothing varies.
    """

    type_1: float | None
    type_1_interval: Interval | None
    type_2: float | None
    type_2_interval: Interval | None
    kappa: float | None


def error_rates(passes: Booleans, good: Booleans) -> ErrorRates:
    """Compare verdicts with labels.

    Args:
        passes: shape (n,), verdicts.
        good: shape (n,), labels.

    >>> rates = error_rates(np.array([True, False, True]), np.array([True, True, False]))
    >>> rates.type_1, rates.type_2
    (0.5, 1.0)
    """
    type_1, type_1_interval = _share(~passes & good, good)
    type_2, type_2_interval = _share(passes & ~good, ~good)
    return ErrorRates(
        type_1=type_1,
        type_1_interval=type_1_interval,
        type_2=type_2,
        type_2_interval=type_2_interval,
        kappa=cohen_kappa(good.tolist(), passes.tolist()),
    )


def _share(wrong: Booleans, answers: Booleans) -> tuple[float | None, Interval | None]:
    count, total = int(wrong.sum()), int(answers.sum())
    return (count / total, wilson_interval(count, total)) if total else (None, None)
