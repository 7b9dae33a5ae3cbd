"""Agreement of the probabilities of levels with labels."""

from __future__ import annotations

import math

import numpy as np

from pytest_evalstudio.calibration.fit.predictions import Predictions
from pytest_evalstudio.calibration.fit.results import LevelAgreement
from pytest_evalstudio.stats.agreement import quadratic_kappa
from pytest_evalstudio.stats.calibration import calibration_error
from pytest_evalstudio.stats.resampling import mean_interval_of_clusters, share_interval

_SMALLEST = 1e-12
"""Smallest probability of a level in a logarithm."""


def level_agreement(predicted: Predictions, seed: int) -> LevelAgreement | None:
    """Return the figures of the levels; None where the curve has none, or a label is of no level of it."""
    labels, clusters = predicted.tested.labels, predicted.tested.cases
    if not predicted.levels or not set(labels.tolist()) <= set(predicted.levels):
        return None
    levels, table = np.array(predicted.levels), predicted.level_probabilities
    losses = -np.log(np.maximum(table[np.arange(len(labels)), np.searchsorted(levels, labels)], _SMALLEST))
    likeliest = levels[table.argmax(axis=1)]
    accuracy = share_interval(likeliest == labels, np.ones(len(labels), dtype=np.bool_), clusters, seed=seed)
    if accuracy is None:
        raise ValueError("there are no labelled answers")
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    errors = [calibration_error(table[:, index], labels == level) for index, level in enumerate(levels)]
    return LevelAgreement(
        log_loss=float(losses.mean()),
        log_loss_interval=mean_interval_of_clusters(losses, clusters, seed=seed),
        log_loss_of_shares=float(-(shares * np.log(shares)).sum()),
        accuracy=accuracy[0],
        accuracy_interval=accuracy[1],
        weighted_kappa=quadratic_kappa(likeliest.tolist(), labels.tolist()),
        level_calibration_error=math.fsum(errors) / len(errors),
    )
