"""Calibrations of all primary metrics by the labels of the step, and their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytest_evalstudio.calibration.file import Calibration
from pytest_evalstudio.calibration.fit.calibrate import Calibrated
from pytest_evalstudio.calibration.fit.guardrail import guardrail_use
from pytest_evalstudio.calibration.fit.results import MetricFigures
from pytest_evalstudio.calibration.labelling.state import Labelling
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.mrm.workflow.calibration import CalibrationOutcome
from pytest_evalstudio.stats.risk_rule import RiskRule


def every_metric(
    calibrated: Calibrated, primaries: Sequence[str], calibrate_metric: Callable[[str], Calibrated]
) -> tuple[tuple[MetricFigures, ...], dict[str, Calibration]]:
    """Calibrate the primary metrics of all evaluators by the same labels.

    Args:
        calibrated: the step's metric, or combined score.
        primaries: `evaluator.metric`.
        calibrate_metric: calibrates one of them.

    Returns:
        Summaries, that of the step's single metric first, and the accepted calibrations by metric.
    """
    metrics = calibrated.figures.metrics
    by_metric, accepted = [], {}

    def add(single: Calibrated) -> None:
        figures = MetricFigures.of(single.figures)
        by_metric.append(figures)
        if figures.accepted and single.calibration is not None:
            accepted[figures.metric] = single.calibration

    if len(metrics) == 1:
        add(calibrated)
    for key in primaries:
        if (key,) == metrics:
            continue
        try:
            add(calibrate_metric(key))
        except ConfigurationError as exc:
            by_metric.append(MetricFigures(metric=key, accepted=False, reasons=(str(exc),)))
    return tuple(by_metric), accepted


def outcome_of(
    labelling: Labelling,
    by_metric: tuple[MetricFigures, ...],
    to_review: Mapping[str, int],
    rule: RiskRule,
    seed: int,
) -> CalibrationOutcome:
    """Return the results for later steps.

    Args:
        labelling: the labels.
        by_metric: calibrations of all primary metrics.
        to_review: number of answers that people should read, by reason.
        rule: of the thresholds.
        seed: of the bootstrap.
    """
    thresholds = {each.metric: each.threshold for each in by_metric if each.threshold is not None}
    return CalibrationOutcome(
        thresholds=thresholds,
        to_review=to_review,
        accepted=tuple(
            case.key for case in labelling.cases if case.verdict is False and labelling.is_good(case.identity)
        ),
        by_metric=by_metric,
        guardrail=guardrail_use(
            labelling.population.scores, labelling.good_at_random, thresholds, rule, seed
        ),
    )
