"""Agreement of probabilities and verdicts with binary labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.bootstrap import SEED
from pytest_evalstudio.stats.resampling import (
    cluster_interval,
    share_interval,
    weighted_area_under_roc,
    weighted_kappa,
)
from pytest_evalstudio.stats.types import Booleans, Floats, Integers, Interval

BINS = 10  # ten answers in each from 100 labels on, if probabilities are spread evenly


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
    """Shares of wrong verdicts, where the null hypothesis is a good answer, with 95 % intervals.

    The intervals resample questions, because answers to the same question are not independent.

    Attributes:
        type_1: share of good answers that fail (false alarms); None without good answers.
        type_2: share of bad answers that pass (misses); None without bad answers.
        kappa: Cohen's, of verdicts and labels; None where nothing varies.
        kappa_interval: None where too few questions vary.
    """

    type_1: float | None
    type_1_interval: Interval | None
    type_2: float | None
    type_2_interval: Interval | None
    kappa: float | None
    kappa_interval: Interval | None = None


def error_rates(
    passes: Booleans, good: Booleans, clusters: Integers | None = None, *, seed: int = SEED
) -> ErrorRates:
    """Compare verdicts with labels.

    Args:
        passes: shape (n,), verdicts.
        good: shape (n,), labels.
        clusters: shape (n,), number of each answer's question; None where each has its own.
        seed: of the bootstrap.

    >>> rates = error_rates(np.array([True, False, True]), np.array([True, True, False]))
    >>> rates.type_1, rates.type_2
    (0.5, 1.0)
    """
    if clusters is None:
        clusters = np.arange(len(good))
    type_1, type_1_interval = share_interval(~passes, good, clusters, seed=seed) or (None, None)
    type_2, type_2_interval = share_interval(passes, ~good, clusters, seed=seed) or (None, None)
    kappa = cohen_kappa(good.tolist(), passes.tolist())
    return ErrorRates(
        type_1=type_1,
        type_1_interval=type_1_interval,
        type_2=type_2,
        type_2_interval=type_2_interval,
        kappa=kappa,
        kappa_interval=(
            None
            if kappa is None
            else cluster_interval(lambda weights: weighted_kappa(good, passes, weights), clusters, seed=seed)
        ),
    )


def area_under_roc_interval(
    scores: Floats, good: Booleans, clusters: Integers, *, folds: Integers | None = None, seed: int = SEED
) -> Interval | None:
    """Return the 95 % interval of the area under the ROC curve; it resamples questions.

    Args:
        scores: shape (n,); higher is better.
        good: shape (n,); labels.
        clusters: shape (n,), number of each answer's question.
        folds: shape (n,), number of the fold that an answer was tested in; the area is the mean over the
            folds, and the interval is widened, because curves of different folds have labels in common.
        seed: of the bootstrap.

    Source: Davison and Hinkley, 1997, section 3.8; Nadeau and Bengio, 2003, Inference for the generalization
        error (Machine Learning 52, 239–281), for folds.

    >>> scores, good = np.linspace(0, 1, 40), np.arange(40) >= 20
    >>> area_under_roc_interval(scores, good, np.arange(40))
    (1.0, 1.0)
    """
    parts = (
        [np.arange(len(good))]
        if folds is None
        else [np.flatnonzero(folds == number) for number in np.unique(folds)]
    )
    parts = [rows for rows in parts if good[rows].any() and not good[rows].all()]
    if not parts:
        return None

    def mean_area(weights: Floats) -> Floats:
        areas = np.array(
            [weighted_area_under_roc(scores[rows], good[rows], weights[:, rows]) for rows in parts]
        )
        finite = np.isfinite(areas)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(finite, areas, 0.0).sum(axis=0) / finite.sum(axis=0))

    interval = cluster_interval(mean_area, clusters, seed=seed)
    if interval is None or len(parts) == 1:
        return interval
    centre = float(mean_area(np.ones((1, len(good))))[0])
    factor = math.sqrt(1 + len(parts) / (len(parts) - 1))
    low, high = (centre + factor * (bound - centre) for bound in interval)
    return max(0.0, low), min(1.0, high)


def calibration_error_interval(
    probabilities: Floats, good: Booleans, clusters: Integers, *, seed: int = SEED
) -> Interval | None:
    """Return the 95 % interval of the expected calibration error; it resamples questions.

    Args:
        probabilities: shape (n,), 0.0 to 1.0.
        good: shape (n,); labels.
        clusters: shape (n,), number of each answer's question.
        seed: of the bootstrap.

    >>> calibration_error_interval(np.array([0.0, 1.0]), np.array([False, True]), np.arange(2))
    (0.0, 0.0)
    """
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    gaps = np.zeros((len(good), BINS))
    gaps[np.arange(len(good)), bins] = good - probabilities
    return cluster_interval(
        lambda weights: np.abs(weights @ gaps).sum(axis=1) / weights.sum(axis=1), clusters, seed=seed
    )
