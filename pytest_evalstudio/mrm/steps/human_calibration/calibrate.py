"""Double calibration of metrics by labels: a curve to probabilities, then conformal prediction.

Source: HCAT, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.engine.scoring.calibration import prediction_set, threshold
from pytest_evalstudio.formats.calibration import (
    METHODS,
    CalibratedMetric,
    Calibration,
    Conformal,
    Logistic,
    Method,
)
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.mrm.data.results import Column, Scores
from pytest_evalstudio.mrm.steps.human_calibration.curves import Fitted, Trees, fit, probabilities
from pytest_evalstudio.mrm.steps.human_calibration.results import (
    CalibrationFigures,
    ConformalFigures,
    LeftOut,
    RunErrorRates,
    Weight,
)
from pytest_evalstudio.mrm.steps.human_calibration.sample import FOLDS, Sample, sample
from pytest_evalstudio.stats.calibration import (
    area_under_roc,
    brier_score,
    calibration_error,
    error_rates,
)
from pytest_evalstudio.stats.conformal import conformal_quantile, expected_coverage, nonconformity
from pytest_evalstudio.stats.intervals import wilson_interval

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

PASSES = 0.5
SAVED_FIGURES = ("n", "auc", "ece_after", "brier", "type_1", "type_2", "kappa")
SETS = {(0,): "zero", (1,): "one", (0, 1): "both", (): "empty"}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The result of `calibrate`.

    Attributes:
        figures: quality of the calibration.
        calibration: for a file; None for trees over several metrics.
    """

    figures: CalibrationFigures
    calibration: Calibration | None

    def save(self, path: Path) -> None:
        """Write the calibration.

        Raises:
            ConfigurationError: if it cannot be saved, or no run could use it.
        """
        if self.calibration is None:
            raise ConfigurationError(
                f"{path}: not written: boosted trees over several metrics cannot be saved; use --method"
                " logistic, whose weights can be read, or one metric"
            )
        if self.figures.threshold is None:
            raise ConfigurationError(
                f"{path}: not written: no score of {self.figures.threshold_of} divides good answers from"
                " bad ones"
            )
        self.calibration.save(path)


@dataclass(frozen=True, slots=True)
class _HeldOut:
    """Predictions for the answers that curves were not fitted to, in the sample's order.

    Attributes:
        tested: these answers.
        probabilities: of a good answer.
        quantiles: the conformal quantile of the fold that an answer was tested in.
        areas: area under the ROC curve within each fold with both kinds.
    """

    tested: Sample
    probabilities: Floats
    quantiles: Floats
    areas: tuple[float, ...]


def calibrate(
    scores: Scores,
    labels: Labels,
    metrics: Sequence[str],
    *,
    method: Method = "logistic",
    alpha: float = 0.1,
    seed: int = DEFAULT_SEED,
    good_from: int | None = None,
    drawn: Container[tuple[str, str]] | None = None,
) -> Calibrated:
    """Calibrate one metric, or several in one score, by people's labels.

    All figures are cross-validated over five folds: in each, one half of the training part fits the curve,
    the other one gives the conformal quantile, and the test part is neither. The calibration itself is made
    of one half of all labels, its quantile of the other half. Where only some answers were drawn at random,
    the quantile and all figures are of these, and the curve is fitted to the others.

    Args:
        labels: by people.
        scores: of the answers.
        seed: of everything random.
        metrics: `evaluator.metric`, or metric keys that one evaluator alone has.
        method: logistic (Platt's scaling; of several metrics logistic regression), isotonic, ordinal,
            boosting.
        alpha: share of answers whose conformal set may miss people's label.
        good_from: the lowest label that counts as good.
        drawn: key and model key of the answers that were drawn at random; None where all were.

    Raises:
        ConfigurationError: if labels are too few or of one kind only, or metrics, method and labels do not go
            together.
        DataError: if no label fits an answer.
    """
    if method not in METHODS:
        raise ConfigurationError(f"no method {method!r}; there are {', '.join(METHODS)}")
    if not 0 < alpha < 1:
        raise ConfigurationError(f"alpha = {alpha}: must lie between 0 and 1, e.g. 0.1")
    columns = _columns(scores, metrics)
    labelled = sample(scores, labels, columns, good_from=good_from, drawn=drawn)
    labelled.check(alpha, seed)
    kinds = [column.metric for column in columns]

    def fitted(rows: npt.NDArray[np.int64]) -> Fitted:
        return fit(
            method,
            labelled.scores[rows],
            labelled.labels[rows],
            good_from=labelled.good_from,
            metrics=kinds,
            seed=seed,
        )

    rows, others = labelled.halves(np.arange(len(labelled)), seed) if drawn is None else labelled.parts()
    curve = fitted(rows)
    conformal = Conformal(
        alpha=alpha, quantile=float(_quantile(curve, labelled, others, alpha)), labels=len(others)
    )
    held_out = (
        _held_out(labelled, alpha, seed, fitted)
        if drawn is None
        else _apart(labelled, curve, others, conformal.quantile)
    )
    figures = _figures(labelled, columns, held_out, conformal)
    figures = replace(
        figures,
        curve_labels=len(rows),
        method=method,
        alpha=alpha,
        seed=seed,
        notes=tuple(_notes(labelled, columns, method, curve)),
        **_weights(curve, columns),
    )
    calibration = (
        None
        if isinstance(curve, Trees)
        else _calibration(curve, method, columns, labelled, len(rows), conformal, figures)
    )
    return Calibrated(replace(figures, **_cut(calibration, columns)), calibration)


def _columns(scores: Scores, metrics: Sequence[str]) -> list[Column]:
    columns = [scores.column(name) for name in metrics]
    keys = [column.key for column in columns]
    if len(set(keys)) < len(keys):
        raise ConfigurationError(f"metric {next(key for key in keys if keys.count(key) > 1)} is named twice")
    for column in columns:
        if column.is_calibrated:
            raise ConfigurationError(
                f"{column.key} is what a calibration made already; calibrate the metrics that it is made of"
            )
    return columns


def _held_out(
    labelled: Sample, alpha: float, seed: int, fitted: Callable[[npt.NDArray[np.int64]], Fitted]
) -> _HeldOut:
    """Return the held-out predictions of a cross-validation."""
    predicted, quantiles = np.empty(len(labelled)), np.empty(len(labelled))
    areas = []
    for training, test in labelled.folds(seed):
        rows, others = labelled.halves(training, seed)
        curve = fitted(rows)
        predicted[test] = probabilities(curve, labelled.scores[test])
        quantiles[test] = _quantile(curve, labelled, others, alpha)
        good = labelled.good[test]
        if good.any() and not good.all():
            areas.append(area_under_roc(predicted[test], good))
    return _HeldOut(labelled, predicted, quantiles, tuple(areas))


def _apart(labelled: Sample, curve: Fitted, others: npt.NDArray[np.int64], quantile: float) -> _HeldOut:
    """Return the predictions for the answers that the curve was not fitted to."""
    tested = labelled.only(others)
    predicted = probabilities(curve, tested.scores)
    return _HeldOut(
        tested, predicted, np.full(len(others), quantile), (area_under_roc(predicted, tested.good),)
    )


def _quantile(curve: Fitted, labelled: Sample, rows: npt.NDArray[np.int64], alpha: float) -> Floats:
    return conformal_quantile(
        nonconformity(probabilities(curve, labelled.scores[rows]), labelled.good[rows]), alpha
    )


def _figures(
    labelled: Sample,
    columns: Sequence[Column],
    held_out: _HeldOut,
    conformal: Conformal,
) -> CalibrationFigures:
    """Return the figures of the held-out answers; `calibrate` adds those of the curve."""
    tested, probabilities = held_out.tested, held_out.probabilities
    good = tested.good
    single = columns[0].metric if len(columns) == 1 else None
    raw = tested.scores[:, 0] * (1 if single is None or single.better == "higher" else -1)
    as_probabilities = _as_probabilities(columns[0], tested.scores[:, 0]) if single is not None else None
    coverage, interval = _coverage(labelled, held_out, conformal)
    sets = [
        SETS[prediction_set(probability, quantile)]
        for probability, quantile in zip(probabilities.tolist(), held_out.quantiles.tolist(), strict=True)
    ]
    return CalibrationFigures(
        n=len(labelled),
        good=int(labelled.good.sum()),
        tested=len(tested),
        left_out=LeftOut(**labelled.left_out),
        metrics=tuple(column.key for column in columns),
        auc=(
            area_under_roc(raw, good)
            if single is not None
            else math.fsum(held_out.areas) / len(held_out.areas)
        ),
        ece_before=None if as_probabilities is None else calibration_error(as_probabilities, good),
        ece_after=calibration_error(probabilities, good),
        brier=brier_score(probabilities, good),
        **asdict(error_rates(probabilities >= PASSES, good)),
        before=_before(columns[0], tested) if single is not None else None,
        conformal=ConformalFigures(
            alpha=conformal.alpha,
            quantile=conformal.quantile,
            labels=conformal.labels,
            coverage=coverage,
            coverage_interval=interval,
            sets={name: sets.count(name) for name in SETS.values()},
        ),
        folds=FOLDS if labelled.drawn is None else None,
        good_from=labelled.good_from,
        curve_labels=0,
        method="",
        alpha=conformal.alpha,
        seed=0,
        threshold=None,
        threshold_of="",
        weights=None,
        intercept=None,
        notes=(),
    )


def _coverage(
    labelled: Sample, held_out: _HeldOut, conformal: Conformal
) -> tuple[float, tuple[float, float]]:
    """Return the share of new answers that the sets cover.

    It is measured on folds. Without folds it is the expected share, because the quantile is of all answers
    that could be tested.
    """
    if labelled.drawn is not None:
        return expected_coverage(conformal.labels, conformal.alpha)
    covered = nonconformity(held_out.probabilities, held_out.tested.good) <= held_out.quantiles
    return float(covered.mean()), wilson_interval(int(covered.sum()), len(covered))


def _as_probabilities(column: Column, scores: Floats) -> Floats | None:
    """Scores taken for probabilities as they are; None where the metric's range is another."""
    if column.metric.range != (0.0, 1.0) or scores.min() < 0 or scores.max() > 1:
        return None
    return scores if column.metric.better == "higher" else 1 - scores


def _before(column: Column, labelled: Sample) -> RunErrorRates | None:
    """Return the error rates of the run's threshold; None without one."""
    limit = column.metric.threshold
    if not math.isfinite(limit):
        return None
    passes = np.array([column.metric.passes(score) for score in labelled.scores[:, 0].tolist()])
    return RunErrorRates(threshold=limit, **asdict(error_rates(passes, labelled.good)))


def _calibration(
    curve: Any,
    method: Method,
    columns: Sequence[Column],
    labelled: Sample,
    rows: int,
    conformal: Conformal,
    figures: CalibrationFigures,
) -> Calibration:
    return Calibration(
        method=method,
        metrics=[
            CalibratedMetric(
                evaluator=column.evaluator,
                metric=column.metric.key,
                better=column.metric.better,
                embedder=column.embedder,
            )
            for column in columns
        ],
        curve=curve,
        labels=rows,
        good_from=labelled.good_from,
        conformal=conformal,
        figures={name: getattr(figures, name) for name in SAVED_FIGURES}
        | {"coverage": figures.conformal.coverage},
    )


def _cut(calibration: Calibration | None, columns: Sequence[Column]) -> dict[str, Any]:
    if len(columns) > 1:
        return {"threshold": PASSES, "threshold_of": "calibrated_probability"}
    return {
        "threshold": None if calibration is None else threshold(calibration, PASSES),
        "threshold_of": columns[0].key,
    }


def _weights(curve: Fitted, columns: Sequence[Column]) -> dict[str, Any]:
    if not isinstance(curve, Logistic):
        return {"weights": None, "intercept": None}
    numbers = zip(columns, curve.weights, curve.means, curve.scales, curve.logs, strict=True)
    return {
        "weights": {
            column.key: Weight(weight=weight, mean=mean, scale=scale, log=log)
            for column, weight, mean, scale, log in numbers
        },
        "intercept": curve.intercept,
    }


def _notes(labelled: Sample, columns: Sequence[Column], method: Method, curve: Fitted) -> list[str]:
    notes = []
    if method == "ordinal" and len(set(labelled.labels.tolist())) <= 2:
        notes.append(
            "labels have two levels, of which ordinal regression is logistic regression: that was used"
        )
    if isinstance(curve, Logistic):
        for column, weight in zip(columns, curve.weights, strict=True):
            if weight and (weight > 0) != (column.metric.better == "higher"):
                notes.append(
                    f"the weight of {column.key} goes against its direction ({column.metric.better} is"
                    " better)"
                )
    return notes
