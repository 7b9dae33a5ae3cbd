"""Figures of a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pytest_evalstudio.scoring.calibration.file import Decision
from pytest_evalstudio.stats.calibration import ErrorRates
from pytest_evalstudio.stats.types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RunErrorRates(ErrorRates):
    """Error rates of the verdicts by the run's threshold."""

    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Labels that do not count.

    Attributes:
        without_answer: labels of answers that are not in the results.
        without_score: labelled answers without a score, by metric.
    """

    without_answer: int
    without_score: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFigures:
    """Prediction sets of levels, by ordinal or multinomial regression.

    Attributes:
        coverage: share of answers whose set holds the level that people gave, 0.0 to 1.0.
        coverage_interval: 95 %.
        by_level: the same share of the answers of each level.
        mean_size: mean number of levels in a set.
    """

    coverage: float
    coverage_interval: Interval
    by_level: Mapping[int, float]
    mean_size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAgreement:
    """Probabilities of levels, and the likeliest level, on answers that the curve was not fitted to.

    Attributes:
        log_loss: mean negative logarithm of the probability of the level that people gave; lower is better.
        log_loss_interval: 95 %.
        log_loss_of_shares: the same of the shares of the levels, without any score.
        accuracy: share of answers whose likeliest level is the one that people gave, 0.0 to 1.0.
        accuracy_interval: 95 %.
        weighted_kappa: of likeliest levels and labels, with quadratic weights; None where nothing varies.
        level_calibration_error: mean over the levels of the calibration error of the level's probability.

    Source: Kull et al., 2019, Beyond temperature scaling, section 2 (class-wise calibration error).
    """

    log_loss: float
    log_loss_interval: Interval | None
    log_loss_of_shares: float
    accuracy: float
    accuracy_interval: Interval
    weighted_kappa: float | None
    level_calibration_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalFigures:
    """Prediction sets of a calibration.

    Attributes:
        alpha: share of labels that the sets may miss: of good and of bad answers each if `kind` is "class",
            of all together if it is "marginal".
        quantile: of the nonconformity scores of all labels, 0.0 to 1.0.
        quantile_good, quantile_bad: of "class".
        labels: number of labels that gave the quantiles.
        coverage: share of answers whose set holds the label, 0.0 to 1.0.
        coverage_interval: 95 %.
        coverage_good, coverage_bad: share of the good, and of the bad answers whose set holds their label.
        coverage_good_interval, coverage_bad_interval: 95 %.
        sets: number of answers by set: "zero", "one", "both" and "empty".
        levels: None without levels.
    """

    alpha: float
    kind: str
    quantile: float
    quantile_good: float | None
    quantile_bad: float | None
    labels: int
    coverage: float
    coverage_interval: Interval
    coverage_good: float | None
    coverage_good_interval: Interval | None
    coverage_bad: float | None
    coverage_bad_interval: Interval | None
    sets: Mapping[str, int]
    levels: LevelFigures | None = None


class RefusalCode(StrEnum):
    """Reasons why a calibration is refused."""

    AGAINST_DIRECTION = "against_direction"
    """People call answers with better scores bad."""
    AUC_HOLDS_HALF = "auc_holds_half"
    """The interval of the area under the ROC curve holds 0.5."""
    THRESHOLD_OUT_OF_RANGE = "threshold_out_of_range"
    """The threshold is no value that the metric can have."""
    TARGET_UNATTAINABLE = "target_unattainable"
    """No threshold has an error rate as small as was asked for."""
    ERRORS_AS_BY_CHANCE = "errors_as_by_chance"
    """Type I and type II on answers that had no part in the calibration sum up to 1 or more."""
    PRICE_TOO_HIGH = "price_too_high"
    """A limit of one error rate leaves more than half of the other answers with a wrong verdict."""
    TRIVIAL_RULE = "trivial_rule"
    """The same verdict on every answer costs no more than the calibrated one."""
    NO_THRESHOLD = "no_threshold"
    """The best verdict is the same on all answers."""

    @property
    def words(self) -> str:
        """Return the reason as the end of a sentence."""
        return _WORDS[self]


_WORDS = {
    RefusalCode.AGAINST_DIRECTION: "people call answers with better scores bad",
    RefusalCode.AUC_HOLDS_HALF: "the scores may be no better than chance",
    RefusalCode.THRESHOLD_OUT_OF_RANGE: "the threshold is outside the metric's range",
    RefusalCode.TARGET_UNATTAINABLE: "no threshold reaches the allowed error rate",
    RefusalCode.ERRORS_AS_BY_CHANCE: "its error rates are no better than chance",
    RefusalCode.PRICE_TOO_HIGH: "it gets more than half of the other answers wrong",
    RefusalCode.TRIVIAL_RULE: "the same verdict on every answer costs no more",
    RefusalCode.NO_THRESHOLD: "the best verdict is the same on all answers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A reason why a calibration is refused, as a code and for people."""

    code: RefusalCode
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedUse:
    """Expected results of checking new answers by the calibrated verdict, with 95 % intervals.

    Attributes:
        flagged: share of all answers that fail, 0.0 to 1.0.
        misses_per_1000: bad answers that pass, among 1,000 answers.
        false_alarms_per_1000: good answers that fail, among 1,000 answers.
        cost_per_1000: of wrong verdicts on 1,000 answers; None without costs.
        trivial_cost_per_1000: of the cheaper one of two rules without a score: every answer fails, or every
            answer passes; None without costs.
        trivial_verdict: of that rule, "fails" or "passes"; "" without costs.
    """

    flagged: float
    flagged_interval: Interval
    misses_per_1000: float
    misses_per_1000_interval: Interval
    false_alarms_per_1000: float
    false_alarms_per_1000_interval: Interval
    cost_per_1000: float | None = None
    cost_per_1000_interval: Interval | None = None
    trivial_cost_per_1000: float | None = None
    trivial_verdict: Literal["", "fails", "passes"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """Weight of a metric in a logistic curve: weight × (score − mean) / scale.

    Attributes:
        log: True if the score is log(1 + score).
    """

    weight: float
    mean: float
    scale: float
    log: bool


@dataclass(frozen=True, kw_only=True)
class CalibrationFigures(ErrorRates):
    """Quality of a calibration, and how it was made; error rates are those of calibrated verdicts.

    Attributes:
        n: number of labelled answers.
        good: number of them that people call good.
        tested: number of answers that the curve was not fitted to.
        metrics: `evaluator.metric`.
        auc: area under the ROC curve of the answers that the curve was not fitted to: of the scores as they
            are for one metric, else of the cross-validated probabilities.
        auc_in_sample: of all labelled answers: of the scores as they are for one metric, else of the
            probabilities of the curve that was fitted to some of them.
        auc_cross_validated: of the probabilities of answers that the curve was not fitted to, mean over the
            folds, which divide questions.
        best_single_auc: area under the ROC curve, on answers that had no part in the choice, of the single
            metric that is best; None for one metric.
        ece_before: expected calibration error of the score as it is; None unless it is a probability.
        ece_after: expected calibration error of the calibrated probability.
        before: error rates by the run's threshold; None for several metrics, or without a threshold.
        folds: of the cross-validation; None where a random part of the labels was held out.
        good_from: the lowest label that counts as good.
        curve_labels: number of labels that the curve was fitted to.
        threshold: calibrated; None for a refused calibration.
        threshold_of: the metric of the threshold.
        weights, intercept: of a logistic curve; None for others.
        decision: rule of the threshold.
        expected: of the calibrated verdict on new answers.
        refusals: reasons why labels do not support the calibration; empty for an accepted one.
        notes: sentences for people.
        candidates: metrics of which the labels chose one; empty where nothing was chosen.
        levels: of ordinal and multinomial regression; None for other methods.
    """

    n: int
    good: int
    tested: int
    left_out: LeftOut
    metrics: tuple[str, ...]
    auc: float
    auc_interval: Interval | None
    auc_in_sample: float
    auc_in_sample_interval: Interval | None
    auc_cross_validated: float
    auc_cross_validated_interval: Interval | None
    best_single_auc: float | None
    ece_before: float | None
    ece_after: float
    ece_after_interval: Interval | None
    brier: float
    brier_interval: Interval | None
    before: RunErrorRates | None
    conformal: ConformalFigures
    folds: int | None
    good_from: int
    curve_labels: int
    method: str
    alpha: float
    seed: int
    threshold: float | None
    threshold_of: str
    weights: Mapping[str, Weight] | None
    intercept: float | None
    notes: tuple[str, ...]
    decision: Decision
    expected: ExpectedUse
    refusals: tuple[Refusal, ...] = ()
    candidates: tuple[str, ...] = ()
    levels: LevelAgreement | None = None

    def with_refusals(self, refusals: tuple[Refusal, ...]) -> CalibrationFigures:
        """Return the figures with reasons for a refusal; a refused calibration has no threshold."""
        return replace(self, refusals=refusals, threshold=None) if refusals else self

    @property
    def is_accepted(self) -> bool:
        """Report whether people's labels support the calibration."""
        return not self.refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFigures:
    """Calibration of the primary metric of an evaluator by the labels of the step.

    Attributes:
        accepted: False if labels do not support it.
        threshold: None for a refused calibration.
        run_threshold: of the evaluation; None without one.
        auc_in_sample, auc_in_sample_interval: area under the ROC curve of all labelled answers.
        type_1, type_2: error rates by the threshold, with intervals.
        reasons: why it is refused, or not calibrated at all.
        expected: of its verdict on new answers; None if it is not calibrated.
    """

    metric: str
    accepted: bool
    threshold: float | None = None
    run_threshold: float | None = None
    auc_in_sample: float | None = None
    auc_in_sample_interval: Interval | None = None
    type_1: float | None = None
    type_1_interval: Interval | None = None
    type_2: float | None = None
    type_2_interval: Interval | None = None
    reasons: tuple[str, ...] = ()
    expected: ExpectedUse | None = None

    @classmethod
    def of(cls, figures: CalibrationFigures) -> MetricFigures:
        """Return the summary of a metric's calibration."""
        return cls(
            metric=figures.threshold_of,
            accepted=figures.is_accepted,
            threshold=figures.threshold,
            run_threshold=None if figures.before is None else figures.before.threshold,
            auc_in_sample=figures.auc_in_sample,
            auc_in_sample_interval=figures.auc_in_sample_interval,
            type_1=figures.type_1,
            type_1_interval=figures.type_1_interval,
            type_2=figures.type_2,
            type_2_interval=figures.type_2_interval,
            reasons=tuple(refusal.text for refusal in figures.refusals),
            expected=figures.expected,
        )
