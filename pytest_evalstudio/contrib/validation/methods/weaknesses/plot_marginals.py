"""Means of a metric by category with their 95 % intervals, over the scores of the cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_rows import (
    ROW,
    DimensionPanel,
    Group,
    MetricAxis,
    colour_of,
    rows_picture,
    some,
    spread,
)
from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.stats.intervals import mean_interval
from pytest_evalstudio.text.figures import figure

MAX_DOTS = 120


def marginals(title: str, axis: MetricAxis, panels: Sequence[DimensionPanel]) -> str:
    """Draw an SVG picture with a row per category.

    Each pale dot is a case (120 at most), the dark dot is their mean.
    """
    description = "Large dots: means, with their 95 % intervals; small dots: cases."
    return rows_picture(title, description, axis, panels, _mean)


def _mean(canvas: Canvas, scale: Scale, middle: float, group: Group) -> None:
    for number, value in enumerate(some(group.values, MAX_DOTS)):
        canvas.circle(
            scale(value),
            middle + spread(number) * (ROW - 14),
            2.5,
            fill=colour_of(group),
            stroke="none",
            opacity=0.25,
        )
    mean = float(np.mean(group.values))
    interval = mean_interval(group.values, scale.low, scale.high)
    title = f"{group.name}: mean {figure(mean)}"
    if interval is not None:
        low, high = (scale(end) for end in interval)
        canvas.line(low, middle, high, middle, stroke=colour_of(group), width=2.5)
        for end in (low, high):
            canvas.line(end, middle - 5, end, middle + 5, stroke=colour_of(group), width=2.5)
        title += f", 95 % interval {figure(interval[0])} to {figure(interval[1])}"
    canvas.circle(scale(mean), middle, 5, fill=colour_of(group), title=title)
