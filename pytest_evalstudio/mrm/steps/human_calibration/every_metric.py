"""Calibration of all primary metrics by the labels of the step, and the guardrail that they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.calibration import Calibration
from pytest_evalstudio.mrm.data.results import Column
from pytest_evalstudio.mrm.steps.human_calibration.calibrate import Calibrated
from pytest_evalstudio.mrm.steps.human_calibration.figures import expected_use
from pytest_evalstudio.mrm.steps.human_calibration.labelling import Labelling
from pytest_evalstudio.mrm.steps.human_calibration.results import ExpectedUse, MetricFigures
from pytest_evalstudio.stats.risk import RiskRule

_UNSAFE = re.compile(r"[^\w.-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCalibration:
    """Calibration of one primary metric.

    Attributes:
        figures: summary.
        calibration: None if it is refused or impossible.
    """

    figures: MetricFigures
    calibration: Calibration | None

    def file(self, start: str, end: str) -> str:
        """Return the name of a file of this metric."""
        evaluator = self.figures.metric.partition(".")[0]
        return f"{start}_{_UNSAFE.sub('_', evaluator)}{end}"


def summarised(calibrated: Calibrated) -> MetricCalibration:
    """Return the summary of a metric's calibration."""
    figures = MetricFigures.of(calibrated.figures)
    return MetricCalibration(
        figures=figures, calibration=calibrated.calibration if figures.accepted else None
    )


def not_calibrated(metric: str, fault: ConfigurationError) -> MetricCalibration:
    """Return the summary of a metric that the labels are too few for."""
    return MetricCalibration(
        figures=MetricFigures(metric=metric, accepted=False, reasons=(str(fault),)), calibration=None
    )


def guardrail_use(
    stand: Labelling, thresholds: Mapping[str, float], rule: RiskRule, seed: int
) -> ExpectedUse | None:
    """Return the expected use of all calibrated thresholds, measured on the answers drawn at random.

    Args:
        stand: of the labelling.
        thresholds: by `evaluator.metric`; an answer passes if it meets all that it has a score for.
        rule: with the costs, if it has any.
        seed: of the bootstrap.

    Returns:
        None without a threshold, or without labelled answers that were drawn at random.
    """
    columns = [stand.population.scores.column(key) for key in thresholds]
    rows = list(_verdicts(stand, columns, thresholds))
    if not columns or not rows:
        return None
    passes, good, questions = zip(*rows, strict=True)
    clusters = np.unique(np.array(questions), return_inverse=True)[1]
    return expected_use(
        np.array(passes, dtype=np.bool_), np.array(good, dtype=np.bool_), clusters, rule, seed
    )


def _verdicts(
    stand: Labelling, columns: Sequence[Column], thresholds: Mapping[str, float]
) -> Iterator[tuple[bool, bool, str]]:
    """Yield the verdict, the label and the question of each labelled answer that was drawn at random."""
    at_random = stand.at_random
    for answer in stand.population.scores.answers.values():
        identity = (answer.key, answer.model_key)
        good = stand.is_good(identity)
        if good is None or identity not in at_random:
            continue
        passes = True
        for column in columns:
            score, limit = answer.score(column.key), thresholds[column.key]
            if score is not None:
                passes &= score >= limit if column.metric.better == "higher" else score <= limit
        yield passes, good, answer.key
