"""Calibration files with a logistic curve of known probabilities."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.scoring.calibration.file import (
    CalibratedMetric,
    Calibration,
    Conformal,
    Decision,
    Logistic,
)


def save_logistic(path: Path, *metrics: CalibratedMetric, quantile: float, probability: float) -> Path:
    """Save a calibration whose probability is 1 / (1 + exp(-Σ 10 (score - 0.5))).

    Args:
        quantile: of the conformal sets, at an error rate of 0.1.
        probability: cut of the decision.
    """
    count = len(metrics)
    Calibration(
        method="logistic",
        metrics=list(metrics),
        curve=Logistic(
            intercept=0.0,
            weights=[1.0] * count,
            means=[0.5] * count,
            scales=[0.1] * count,
            logs=[False] * count,
        ),
        labels=30,
        conformal=Conformal(alpha=0.1, quantile=quantile, labels=20),
        decision=Decision(rule="balanced", probability=probability),
    ).save(path)
    return path
