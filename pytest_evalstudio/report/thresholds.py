"""Thresholds in force and who set them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.report.data.columns import Columns

Source = Literal["default", "configuration", "human calibration", "not known"]


class ThresholdLine(Struct, frozen=True, kw_only=True):
    """Threshold of a metric in this run.

    Attributes:
        source: who set the run's threshold; "not known" for an evaluator that is not installed here.
        default: of the evaluator, None where it is not known.
        cases: thresholds that single cases have of their own, in ascending order.
        decides: whether it decides test cases.
    """

    evaluator: EvaluatorEntry
    metric: Metric
    source: Source
    default: float | None
    cases: tuple[float, ...]
    decides: bool


def thresholds_in_force(analysis: Analysis, columns: Columns, registry: Registry) -> list[ThresholdLine]:
    """Return the thresholds of all evaluators of a run; metrics without a threshold are left out."""
    return [line for info in analysis.evaluators.values() for line in _lines(info, columns, registry)]


def _lines(info: EvaluatorEntry, columns: Columns, registry: Registry) -> Iterator[ThresholdLine]:
    defaults = _defaults(info, registry)
    limits = list(columns.judgements[info.id].limit_sets)
    for index, metric in enumerate(info.metrics):
        if metric not in info.judged_metrics or not math.isfinite(metric.threshold):
            continue
        default = defaults.get(metric.key)
        yield ThresholdLine(
            evaluator=info,
            metric=metric,
            source=_source(info, metric, default),
            default=default,
            cases=tuple(sorted({limit for row in limits if (limit := row[index]) is not None})),
            decides=metric.key in info.asserted,
        )


def _defaults(info: EvaluatorEntry, registry: Registry) -> dict[str, float]:
    if info.type not in registry.evaluators:
        return {}
    return {metric.key: metric.threshold for metric in registry.evaluators.spec(info.type).metrics}


def _source(info: EvaluatorEntry, metric: Metric, default: float | None) -> Source:
    if info.calibration and metric.primary:
        return "human calibration"
    if default is None:
        return "not known"
    return "default" if metric.threshold == default else "configuration"
