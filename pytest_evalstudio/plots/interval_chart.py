"""Geometry of the chart of means with their intervals against the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from pytest_evalstudio.core.outcomes import Metric

WIDTH = 400.0
"""Width of the plotting area, in the chart's own units."""


class Mean(Struct, frozen=True, kw_only=True):
    """The mean of a metric for one model.

    Attributes:
        value: None or infinite where there is nothing to show.
        interval: lower and upper bound; None where there is none.
        threshold: of the model's test cases in the mean.
        passes: None without a value or a finite threshold.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None
    threshold: float
    passes: bool | None


class ModelLine(Struct, frozen=True, kw_only=True):
    """A model's line: positions of its mean, the ends of its interval and its threshold.

    Attributes:
        threshold: None where it is infinite or outside the axis.
    """

    name: str
    value: float
    x: float
    low: float
    high: float
    passes: bool | None
    threshold: float | None


class IntervalChart(Struct, frozen=True, kw_only=True):
    """A metric of all models on one axis.

    Attributes:
        ticks: position and value.
    """

    title: str
    lines: tuple[ModelLine, ...]
    ticks: tuple[tuple[float, float], ...]


def interval_chart(metric: Metric, means: Sequence[Mean]) -> IntervalChart | None:
    """Return the chart of a metric; None where no model has a finite value."""
    shown = [(mean, mean.value) for mean in means if mean.value is not None and math.isfinite(mean.value)]
    if not shown:
        return None
    low, high = _ends(metric, [value for _, value in shown], [mean for mean, _ in shown])

    def position(value: float) -> float:
        return round(WIDTH * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    def line(mean: Mean, value: float) -> ModelLine:
        start, end = mean.interval or (value, value)
        has_threshold = math.isfinite(mean.threshold) and low <= mean.threshold <= high
        return ModelLine(
            name=mean.name,
            value=value,
            x=position(value),
            low=position(start),
            high=position(end),
            passes=mean.passes,
            threshold=position(mean.threshold) if has_threshold else None,
        )

    marks = [low + (high - low) * step / 4 for step in range(5)]
    return IntervalChart(
        title=metric.name,
        lines=tuple(line(mean, value) for mean, value in shown),
        ticks=tuple((position(mark), mark) for mark in marks),
    )


def _ends(metric: Metric, values: Sequence[float], means: Sequence[Mean]) -> tuple[float, float]:
    """Return the ends of the axis: those of the metric's range, else as far as values and thresholds go."""
    values_shown = [*values, *(bound for mean in means for bound in mean.interval or ())]
    thresholds = [metric.threshold, *(mean.threshold for mean in means)]
    values_shown += filter(math.isfinite, thresholds)
    low = metric.range[0] if math.isfinite(metric.range[0]) else min(values_shown)
    high = metric.range[1] if math.isfinite(metric.range[1]) else max(values_shown)
    # Equal values would divide by zero in `position`.
    return low, high if high > low else low + 1.0
