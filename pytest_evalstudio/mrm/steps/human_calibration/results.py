"""Id, artifacts and results of the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_evalstudio.mrm.workflow.results import shallow
from pytest_evalstudio.stats.calibration import ErrorRates
from pytest_evalstudio.stats.types import Interval

ID = "human_calibration"
LABELS = "labels.csv"
TO_LABEL = "to_label.csv"
SAMPLE = "sample.json"
CALIBRATION = "calibration.json"
FIGURES = "figures.json"
CURVE = "calibration_curve.svg"
TO_REVIEW = "to_review.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOutcome:
    """The results of a calibration that later steps use; all are empty if nothing was calibrated.

    Attributes:
        thresholds: `evaluator.metric` to the calibrated threshold.
        accepted: keys of the test cases that fail although people call the answer good.
    """

    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    accepted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of the raters of the same answers, who call each good or bad.

    Attributes:
        raters: number of labels by rater.
        shared: number of answers with at least two labels.
        percent: share of the pairs of labels of one answer that are equal, 0.0 to 1.0; None without pairs.
        cohen_kappa: None unless there are two raters whose labels vary.
        krippendorff_alpha: nominal; None where there is nothing to compare, or no variation.
    """

    raters: Mapping[str, int]
    shared: int
    percent: float | None
    cohen_kappa: float | None
    krippendorff_alpha: float | None


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
class ConformalFigures:
    """Prediction sets of a calibration.

    Attributes:
        alpha: share of labels that the sets may miss.
        quantile: of the nonconformity scores, 0.0 to 1.0.
        labels: number of labels that gave the quantile.
        coverage: share of answers whose set holds the label, 0.0 to 1.0.
        coverage_interval: 95 %.
        sets: number of answers by set: "zero", "one", "both" and "empty".
    """

    alpha: float
    quantile: float
    labels: int
    coverage: float
    coverage_interval: Interval
    sets: Mapping[str, int]


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
        auc: area under the ROC curve.
        ece_before: expected calibration error of the score as it is; None unless it is a probability.
        ece_after: expected calibration error of the calibrated probability.
        before: error rates by the run's threshold; None for several metrics, or without a threshold.
        folds: of the cross-validation; None where a random part of the labels was held out.
        good_from: the lowest label that counts as good.
        curve_labels: number of labels that the curve was fitted to.
        threshold: calibrated; None where no score divides good answers from bad ones.
        threshold_of: the metric of the threshold.
        weights, intercept: of a logistic curve; None for others.
        notes: sentences for people.
    """

    n: int
    good: int
    tested: int
    left_out: LeftOut
    metrics: tuple[str, ...]
    auc: float
    ece_before: float | None
    ece_after: float
    brier: float
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


@dataclass(frozen=True, kw_only=True)
class LabellingResults:
    """Progress of the labelling.

    Attributes:
        metrics: `evaluator.metric`.
        wanted: number of labels that the step waits for.
        labelled: number of labelled answers.
        without_score: number of answers without a score.
        not_counted: number of labels that do not count, by reason.
        divided: keys of the answers on which raters are divided.
    """

    metrics: tuple[str, ...]
    wanted: int
    labelled: int
    agreement: Agreement
    without_score: int
    not_counted: Mapping[str, int]
    divided: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CalibrationResults(LabellingResults, CalibrationFigures):
    """Results of a completed calibration; `CalibrationOutcome` is the part that later steps read.

    Attributes:
        thresholds: `evaluator.metric` to the calibrated threshold, where later steps should use it.
        to_review: number of answers that people should read, by reason.
        accepted: keys of the test cases that fail although people call the answer good.
    """

    thresholds: Mapping[str, float]
    to_review: Mapping[str, int]
    accepted: tuple[str, ...]

    @classmethod
    def of(
        cls,
        labelling: LabellingResults,
        calibration: CalibrationFigures,
        *,
        thresholds: Mapping[str, float],
        to_review: Mapping[str, int],
        accepted: tuple[str, ...],
    ) -> CalibrationResults:
        """Join the results of the labelling and of the calibration."""
        return cls(
            **(shallow(labelling) | shallow(calibration)),
            thresholds=thresholds,
            to_review=to_review,
            accepted=accepted,
        )
