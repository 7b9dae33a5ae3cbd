"""Calibrations of all primary metrics by the same labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_evalstudio.contrib.calibration.fit.calibrate import Calibrated
from pytest_evalstudio.contrib.calibration.fit.results import MetricFigures
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.scoring.calibration.file import Calibration


def every_metric(
    calibrated: Calibrated, primaries: Sequence[str], calibrate_metric: Callable[[str], Calibrated]
) -> tuple[tuple[MetricFigures, ...], dict[str, Calibration]]:
    """Calibrate the primary metrics of all evaluators by the same labels.

    Args:
        calibrated: the first metric, or a combined score.
        primaries: `evaluator.metric`.
        calibrate_metric: calibrates one of them.

    Returns:
        Summaries, that of a single first metric included, and the accepted calibrations by metric.
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
