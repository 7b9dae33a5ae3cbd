"""Figures of a calibration, each with an interval that resamples questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.coverage import conformal_figures
from pytest_evalstudio.contrib.calibration.fit.curves import Fitted, Trees, probabilities
from pytest_evalstudio.contrib.calibration.fit.predictions import Fit, Predictions
from pytest_evalstudio.contrib.calibration.fit.results import (
    CalibrationFigures,
    ExpectedUse,
    LevelAgreement,
    RunErrorRates,
    Weight,
)
from pytest_evalstudio.contrib.calibration.fit.sample import FOLDS, LabelledSample
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.record.score_table import Column
from pytest_evalstudio.scoring.calibration.curve import threshold
from pytest_evalstudio.scoring.calibration.file import (
    PROBABILITY,
    VERSION,
    VERSION_OF_SOFTMAX,
    CalibratedMetric,
    Calibration,
    Conformal,
    Decision,
    Logistic,
    Softmax,
)
from pytest_evalstudio.stats.agreement import quadratic_kappa
from pytest_evalstudio.stats.calibration import (
    area_under_roc,
    area_under_roc_interval,
    brier_score,
    calibration_error,
    calibration_error_interval,
    error_rates,
)
from pytest_evalstudio.stats.conformal import min_labels
from pytest_evalstudio.stats.resampling import mean_interval_of_clusters, share_interval
from pytest_evalstudio.stats.risk_rule import RiskRule
from pytest_evalstudio.stats.types import Booleans, Floats, Integers, Interval
from pytest_evalstudio.text.figures import figure

_THOUSAND = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCalibration:
    """Curve, conformal prediction and decision of a fit.

    Attributes:
        curve_labels: number of labels that the curve was fitted to.
        decision: the cut, and the rule that chose it.
    """

    fitting: Fit
    curve: Fitted
    curve_labels: int
    conformal: Conformal
    decision: Decision

    def saved(self, figures: Mapping[str, object] = NOTHING) -> Calibration | None:
        """Return the calibration for a file; None for trees, which no file holds.

        Args:
            figures: of the calibration, for people.
        """
        if isinstance(self.curve, Trees):
            return None
        return Calibration(
            version=VERSION_OF_SOFTMAX if isinstance(self.curve, Softmax) else VERSION,
            method=self.fitting.method,
            metrics=[
                CalibratedMetric(
                    evaluator=column.evaluator,
                    metric=column.metric.key,
                    better=column.metric.better,
                    embedder=column.embedder,
                )
                for column in self.fitting.columns
            ],
            curve=self.curve,
            labels=self.curve_labels,
            good_from=self.fitting.sample.good_from,
            conformal=self.conformal,
            decision=self.decision,
            figures=dict(figures),
        )

    @property
    def threshold(self) -> float | None:
        """Return the probability for several metrics, else the score; None where no score corresponds."""
        if len(self.fitting.columns) > 1:
            return self.decision.probability
        calibration = self.saved()
        return None if calibration is None else threshold(calibration)

    @property
    def threshold_of(self) -> str:
        """Return the metric of the threshold."""
        columns = self.fitting.columns
        return PROBABILITY if len(columns) > 1 else columns[0].key


def calibration_figures(calibration: FittedCalibration, predicted: Predictions) -> CalibrationFigures:
    """Return the figures of a calibration; nothing is refused yet."""
    fitting, curve = calibration.fitting, calibration.curve
    labelled, tested, seed = fitting.sample, predicted.tested, fitting.seed
    good, clusters = tested.good, tested.cases
    single = fitting.columns[0] if len(fitting.columns) == 1 else None
    as_probabilities = None if single is None else _as_probabilities(single, tested.scores[:, 0])
    raw, in_sample, cross_validated = _areas(calibration, predicted)
    return CalibrationFigures(
        n=len(labelled),
        good=int(labelled.good.sum()),
        tested=len(tested),
        left_out=labelled.left_out,
        metrics=tuple(column.key for column in fitting.columns),
        auc=raw[0],
        auc_interval=raw[1],
        auc_in_sample=in_sample[0],
        auc_in_sample_interval=in_sample[1],
        auc_cross_validated=cross_validated[0],
        auc_cross_validated_interval=cross_validated[1],
        best_single_auc=float(np.mean(predicted.single_areas)) if predicted.single_areas else None,
        ece_before=None if as_probabilities is None else calibration_error(as_probabilities, good),
        ece_after=calibration_error(predicted.probabilities, good),
        ece_after_interval=calibration_error_interval(predicted.probabilities, good, clusters, seed=seed),
        brier=brier_score(predicted.probabilities, good),
        brier_interval=mean_interval_of_clusters((predicted.probabilities - good) ** 2, clusters, seed=seed),
        **asdict(error_rates(predicted.passes, good, clusters, seed=seed)),
        before=None if single is None else _before(single, tested, seed),
        conformal=conformal_figures(fitting, predicted, calibration.conformal),
        folds=FOLDS if labelled.drawn is None else None,
        good_from=labelled.good_from,
        curve_labels=calibration.curve_labels,
        method=fitting.method,
        alpha=fitting.alpha,
        seed=seed,
        threshold=calibration.threshold,
        threshold_of=calibration.threshold_of,
        weights=_weights(curve, fitting.columns),
        intercept=curve.intercept if isinstance(curve, Logistic) else None,
        notes=tuple(_notes(calibration, predicted, cross_validated[0])),
        decision=calibration.decision,
        expected=expected_use(predicted.passes, good, clusters, calibration.decision, seed),
        levels=level_agreement(predicted, seed),
    )


def expected_use(
    passes: Booleans, good: Booleans, clusters: Integers, rule: RiskRule, seed: int
) -> ExpectedUse:
    """Return the expected results of checking new answers, estimated on labelled ones.

    Args:
        passes: shape (n,), verdicts on answers drawn at random.
        good: shape (n,), labels.
        clusters: shape (n,), number of each answer's question.
        rule: with costs, where they are known.
        seed: of the bootstrap.
    """
    everything = np.ones(len(good), dtype=np.bool_)

    def share(hits: Booleans) -> tuple[float, Interval]:
        result = share_interval(hits, everything, clusters, seed=seed)
        if result is None:
            raise ValueError("there are no labelled answers")
        return result

    def per_thousand(hits: Booleans) -> tuple[float, Interval]:
        value, (low, high) = share(hits)
        return _THOUSAND * value, (_THOUSAND * low, _THOUSAND * high)

    flagged, flagged_interval = share(~passes)
    misses, misses_interval = per_thousand(passes & ~good)
    alarms, alarms_interval = per_thousand(~passes & good)
    cost, cost_interval, trivial_cost = None, None, None
    trivial_verdict: Literal["", "fails", "passes"] = ""
    if rule.cost_type_i is not None and rule.cost_type_ii is not None:
        costs = _THOUSAND * (rule.cost_type_i * (~passes & good) + rule.cost_type_ii * (passes & ~good))
        cost = float(costs.mean())
        cost_interval = mean_interval_of_clusters(costs, clusters, seed=seed)
        if_all_fail = _THOUSAND * rule.cost_type_i * float(good.mean())
        if_all_pass = _THOUSAND * rule.cost_type_ii * float((~good).mean())
        trivial_cost = min(if_all_fail, if_all_pass)
        trivial_verdict = "fails" if if_all_fail <= if_all_pass else "passes"
    return ExpectedUse(
        flagged=flagged,
        flagged_interval=flagged_interval,
        misses_per_1000=misses,
        misses_per_1000_interval=misses_interval,
        false_alarms_per_1000=alarms,
        false_alarms_per_1000_interval=alarms_interval,
        cost_per_1000=cost,
        cost_per_1000_interval=cost_interval,
        trivial_cost_per_1000=trivial_cost,
        trivial_verdict=trivial_verdict,
    )


_Area = tuple[float, Interval | None]
"""Area under the ROC curve with its interval."""


def _areas(calibration: FittedCalibration, predicted: Predictions) -> tuple[_Area, _Area, _Area]:
    """Return the areas of unseen answers, of all labelled answers, and of cross-validated probabilities."""
    fitting = calibration.fitting
    labelled, tested, seed = fitting.sample, predicted.tested, fitting.seed

    def raw(answers: LabelledSample) -> Floats:
        sign = 1 if fitting.columns[0].metric.better == "higher" else -1
        return answers.scores[:, 0] * sign

    is_single = len(fitting.columns) == 1
    in_sample = raw(labelled) if is_single else probabilities(calibration.curve, labelled.scores)
    folds = [predicted.folds == number for number in np.unique(predicted.folds)]
    areas = [
        area_under_roc(predicted.probabilities[rows], tested.good[rows])
        for rows in folds
        # A fold with labels of one kind has no area.
        if tested.good[rows].any() and not tested.good[rows].all()
    ]
    held_out_interval = area_under_roc_interval(
        predicted.probabilities, tested.good, tested.cases, folds=predicted.folds, seed=seed
    )
    # A mean over the folds: probabilities of different curves are not ranked together.
    of_folds = (math.fsum(areas) / len(areas), held_out_interval)
    of_scores = (
        (
            area_under_roc(raw(tested), tested.good),
            area_under_roc_interval(raw(tested), tested.good, tested.cases, seed=seed),
        )
        if is_single
        else of_folds
    )
    of_labels = (
        area_under_roc(in_sample, labelled.good),
        area_under_roc_interval(in_sample, labelled.good, labelled.cases, seed=seed),
    )
    return of_scores, of_labels, of_folds


def _as_probabilities(column: Column, scores: Floats) -> Floats | None:
    """Scores taken for probabilities as they are; None where the metric's range is another."""
    if column.metric.range != (0.0, 1.0) or scores.min() < 0 or scores.max() > 1:
        return None
    return scores if column.metric.better == "higher" else 1 - scores


def _before(column: Column, tested: LabelledSample, seed: int) -> RunErrorRates | None:
    """Return the error rates of the run's threshold; None without one."""
    limit = column.metric.threshold
    if not math.isfinite(limit):
        return None
    passes = np.array([column.metric.passes(score) for score in tested.scores[:, 0].tolist()])
    rates = error_rates(passes, tested.good, tested.cases, seed=seed)
    return RunErrorRates(threshold=limit, **asdict(rates))


def _weights(curve: Fitted, columns: Sequence[Column]) -> dict[str, Weight] | None:
    if not isinstance(curve, Logistic):
        return None
    numbers = zip(columns, curve.weights, curve.means, curve.scales, curve.logs, strict=True)
    return {
        column.key: Weight(weight=weight, mean=mean, scale=scale, log=log)
        for column, weight, mean, scale, log in numbers
    }


def _notes(calibration: FittedCalibration, predicted: Predictions, combined: float) -> list[str]:
    fitting, curve, conformal = calibration.fitting, calibration.curve, calibration.conformal
    labelled, notes = fitting.sample, []
    if fitting.method in ("ordinal", "multinomial") and len(set(labelled.labels.tolist())) <= 2:
        notes.append(
            f"labels have two levels, of which {fitting.method} regression is logistic regression: that was"
            " used"
        )
    if isinstance(curve, Logistic) and len(fitting.columns) > 1:
        unused = [
            column.key for column, weight in zip(fitting.columns, curve.weights, strict=True) if not weight
        ]
        if unused:
            notes.append(
                f"without weight, since labels give them none in their direction: {', '.join(unused)}"
            )
    if predicted.single_areas:
        single = float(np.mean(predicted.single_areas))
        if combined <= single:
            notes.append(
                f"the combined score (area {figure(combined)}, cross-validated) is no better than the"
                " best single"
                f" metric ({figure(single)}); calibrate that one alone"
            )
    if conformal.kind == "class":
        few = [
            name
            for name, quantile in (
                ("good", conformal.quantile_good),
                ("bad", conformal.quantile_bad),
            )
            # The quantile is 1.0 where labels are too few.
            if quantile == 1.0
        ]
        if few:
            notes.append(
                f"too few labels of {' and '.join(few)} answers: every conformal set holds"
                f" {' and '.join(few)}; alpha = {fitting.alpha:g} takes {min_labels(fitting.alpha)} labels"
                f" of each"
                " kind that the curve is not fitted to"
            )
    return notes


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
