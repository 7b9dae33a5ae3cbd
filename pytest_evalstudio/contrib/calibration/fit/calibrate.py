"""Double calibration of metrics by labels: a curve to probabilities, then conformal prediction.

Source: HCAT, section 5.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.curves import Fitted, probabilities
from pytest_evalstudio.contrib.calibration.fit.figures import FittedCalibration, calibration_figures
from pytest_evalstudio.contrib.calibration.fit.predictions import (
    Fit,
    Predictions,
    conformal_of,
    cross_validated,
    held_out,
)
from pytest_evalstudio.contrib.calibration.fit.refusals import refusals
from pytest_evalstudio.contrib.calibration.fit.results import CalibrationFigures
from pytest_evalstudio.contrib.calibration.fit.sample import sample
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.record.score_table import Column, Scores
from pytest_evalstudio.scoring.calibration.file import (
    COVERAGES,
    METHODS,
    Calibration,
    Coverage,
    Decision,
    Method,
)
from pytest_evalstudio.stats.risk import Cut, choose_cut
from pytest_evalstudio.stats.risk_rule import RiskRule
from pytest_evalstudio.stats.types import Floats

SAVED_FIGURES = ("n", "auc", "ece_after", "brier", "type_1", "type_2", "kappa")
SAVED_LEVEL_FIGURES = ("log_loss", "accuracy", "weighted_kappa", "level_calibration_error")
_SMALLEST = 1e-12
"""Distance of a saved cut from 0 and from 1."""


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
            ConfigurationError: if it cannot be saved, or people's labels do not support it.
        """
        if self.calibration is None:
            raise ConfigurationError(
                f"{path}: not written: boosted trees over several metrics cannot be saved; use --method"
                " logistic, whose weights can be read, or one metric"
            )
        if not self.figures.is_accepted:
            reasons = "; ".join(refusal.text for refusal in self.figures.refusals)
            raise ConfigurationError(f"{path}: not written: {reasons}")
        self.calibration.save(path)


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
    rule: RiskRule | None = None,
    coverage: Coverage = "class",
    chooses: bool = False,
) -> Calibrated:
    """Calibrate one metric, or several in one score, by people's labels.

    All figures are cross-validated over five folds: in each, one half of the training part fits the curve,
    the other one gives the conformal quantiles, both choose the cut, and the test part is neither. The
    calibration itself is made of all labels in the same way. Where only some answers were drawn at random,
    the quantiles and all figures are of these, the curve is fitted to the others, and the cut is chosen by
    the probabilities of all answers.

    Args:
        labels: by people.
        scores: of the answers.
        seed: of everything random.
        metrics: `evaluator.metric`, or metric keys that one evaluator alone has.
        method: logistic (Platt's scaling; of several metrics logistic regression), isotonic, ordinal,
            multinomial, boosting.
        alpha: share of answers whose conformal set may miss people's label.
        good_from: the lowest label that counts as good.
        drawn: key and model key of the answers that were drawn at random; None where all were.
        rule: of the threshold; balanced error where not given.
        coverage: "class" if alpha holds for good and for bad answers each, "marginal" if for all together.
        chooses: calibrate the one metric with the greatest area under the ROC curve; each fold chooses by its
            training part (nested cross-validation), so that the figures contain the choice.

    Raises:
        ConfigurationError: if labels are too few or of one kind only, or metrics, method and labels do not go
            together.
        DataError: if no label fits an answer.
    """
    _check(method, alpha, coverage)
    if chooses and len(metrics) < 2:
        raise ConfigurationError("choosing a metric takes two or more; name them, separated by commas")
    rule = rule or RiskRule()
    columns = _columns(scores, metrics)
    labelled = sample(scores, labels, columns, good_from=good_from, drawn=drawn)
    if method == "multinomial":
        labelled = replace(labelled, by_level=True)
    labelled.check(alpha, seed)
    fitting = Fit(
        sample=labelled,
        columns=tuple(columns),
        method=method,
        alpha=alpha,
        coverage=coverage,
        rule=rule,
        seed=seed,
        chooses=chooses,
    )
    result, tested, cut = _fitted(fitting, scores)
    figures = calibration_figures(result, tested)
    if chooses:
        figures = replace(figures, candidates=tuple(column.key for column in columns))
    figures = figures.with_refusals(refusals(figures, result.fitting.columns, cut, rule))
    return Calibrated(figures, result.saved(_saved_figures(figures)))


def _fitted(fitting: Fit, scores: Scores) -> tuple[FittedCalibration, Predictions, Cut]:
    """Return the calibration, its predictions for unseen answers, and the cut of its decision."""
    labelled, seed = fitting.sample, fitting.seed
    everything = np.arange(len(labelled))
    has_random_part = labelled.drawn is not None
    rows, others = labelled.parts() if has_random_part else labelled.halves(everything, seed)
    # The random part has no say in the choice, since it gives the figures.
    candidates, fitting = fitting, fitting.chosen(rows if has_random_part else everything)
    curve = fitting.curve(rows)
    conformal = conformal_of(fitting, curve, others)
    cut = _expected(scores, curve, fitting) if has_random_part else fitting.cut(curve, everything)
    tested = (
        held_out(fitting, curve, conformal, cut, rows, others)
        if has_random_part
        # Each fold chooses anew, so that it needs all candidates; the figures are of the chosen metric.
        else replace(cross_validated(candidates), tested=fitting.sample)
    )
    probability = min(max(cut.probability, _SMALLEST), 1 - _SMALLEST)
    decision = Decision(**asdict(fitting.rule), probability=probability)
    result = FittedCalibration(
        fitting=fitting, curve=curve, curve_labels=len(rows), conformal=conformal, decision=decision
    )
    return result, tested, cut


def _check(method: str, alpha: float, coverage: str) -> None:
    if method not in METHODS:
        raise ConfigurationError(f"no method {method!r}; there are {', '.join(METHODS)}")
    if coverage not in COVERAGES:
        raise ConfigurationError(f"no coverage {coverage!r}; there are {', '.join(COVERAGES)}")
    if not 0 < alpha < 1:
        raise ConfigurationError(f"alpha = {alpha}: must lie between 0 and 1, e.g. 0.1")


def _columns(scores: Scores, metrics: Sequence[str]) -> list[Column]:
    columns = [scores.column(name) for name in metrics]
    keys = [column.key for column in columns]
    if len(set(keys)) < len(keys):
        raise ConfigurationError(f"metric {next(key for key in keys if keys.count(key) > 1)} is named twice")
    for column in columns:
        if column.is_calibrated:
            raise ConfigurationError(
                f"{column.key} is already the result of a calibration; calibrate the metrics that it was"
                " made from"
            )
    return columns


def _expected(scores: Scores, curve: Fitted, fitting: Fit) -> Cut:
    """Return the cut by the expected errors on all answers, whose labels the curve predicts.

    The labels that the curve was fitted to were chosen by their scores, so that shares of them are not those
    of all answers. The labels drawn at random remain for the figures.
    """
    rows = [[answer.score(column.key) for column in fitting.columns] for answer in scores.answers.values()]
    complete: Floats = np.array([row for row in rows if None not in row], dtype=np.float64)
    likely = probabilities(curve, complete)
    return choose_cut(likely, likely, fitting.rule)


def _saved_figures(figures: CalibrationFigures) -> dict[str, object]:
    """Return the figures that the file of a calibration has."""
    conformal, expected, levels = figures.conformal, figures.expected, figures.levels
    return {
        **({} if levels is None else {name: getattr(levels, name) for name in SAVED_LEVEL_FIGURES}),
        **{name: getattr(figures, name) for name in SAVED_FIGURES},
        "coverage": conformal.coverage,
        "coverage_good": conformal.coverage_good,
        "coverage_bad": conformal.coverage_bad,
        "flagged": expected.flagged,
        "misses_per_1000": expected.misses_per_1000,
        "cost_per_1000": expected.cost_per_1000,
    }
