"""Thresholds and further results of the calibration for later steps."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.calibration.fit.guardrail import guardrail_use
from pytest_evalstudio.calibration.fit.results import MetricFigures
from pytest_evalstudio.calibration.labelling.state import Labelling
from pytest_evalstudio.mrm.workflow.calibration import CalibrationOutcome
from pytest_evalstudio.stats.risk_rule import RiskRule


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
