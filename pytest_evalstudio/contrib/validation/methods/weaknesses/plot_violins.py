"""Distributions of a metric by category: violins of many scores, dots of few."""

from __future__ import annotations

import math
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
from pytest_evalstudio.plots.colours import GROUND, INK
from pytest_evalstudio.stats.density import density
from pytest_evalstudio.stats.intervals import is_binary, mean_interval
from pytest_evalstudio.text.figures import figure

FEWEST, MIN_DIFFERENT = 12, 6
"""Scores, and different ones, that a violin is drawn of: fewer would be the smoothing's shape, not theirs."""
MAX_DOTS, MAX_PASSES = 60, 32
_POINTS = 72
_HALF = ROW / 2 - 4
_COLUMN, _PITCH = 4, 6


def violins(title: str, axis: MetricAxis, panels: Sequence[DimensionPanel]) -> str:
    """Draw a row per category as SVG, with mean or median, threshold and number of cases.

    A violin is as wide at a score as the density there, each to its own greatest width; within it the
    quartiles and the median. A share of passes has no shape: its dots lie at both ends, and the share stands
    between them with its 95 % interval.
    """
    each = _cases_per_dot(panels)
    is_passes = all(is_binary(group.values) for panel in panels for group in panel.groups)

    def draw(canvas: Canvas, scale: Scale, middle: float, group: Group) -> None:
        if is_passes:
            _passes(canvas, scale, middle, group, each)
        elif len(group.values) >= FEWEST and len(set(group.values)) >= MIN_DIFFERENT:
            _violin(canvas, scale, middle, group)
        else:
            _dots(canvas, scale, middle, group)

    description = (
        "Violins: density of the scores, with quartiles and median. Dots: the scores, with mean and 95 %"
        " interval, where they are few."
    )
    note = f"A small dot is {f'up to {each} cases' if each > 1 else 'a case'}." if is_passes else ""
    return rows_picture(title, description, axis, panels, draw, note=note)


def _cases_per_dot(panels: Sequence[DimensionPanel]) -> int:
    """Return the number of cases per dot, so that the dots of each category fit."""
    most = max(
        max(group.values.count(0.0), group.values.count(1.0)) for panel in panels for group in panel.groups
    )
    return max(1, math.ceil(most / MAX_PASSES))


def _violin(canvas: Canvas, scale: Scale, middle: float, group: Group) -> None:
    points = np.linspace(scale.low, scale.high, _POINTS)
    heights = density(group.values, points, scale.low, scale.high)
    shape = heights / heights.max() * _HALF
    visible = np.flatnonzero(shape >= 0.15)
    points, shape = points[visible[0] : visible[-1] + 1], shape[visible[0] : visible[-1] + 1]
    upper = [
        (scale(point), middle - half) for point, half in zip(points.tolist(), shape.tolist(), strict=True)
    ]
    lower = [
        (scale(point), middle + half) for point, half in zip(points.tolist(), shape.tolist(), strict=True)
    ]
    first, median, third = (float(value) for value in np.percentile(group.values, (25, 50, 75)))
    title = f"{group.name}: median {figure(median)}, quartiles {figure(first)} and {figure(third)}"
    canvas.path(
        [*upper, *reversed(lower)],
        stroke=colour_of(group),
        fill=colour_of(group),
        opacity=0.3,
        closed=True,
        title=title,
    )
    canvas.line(scale(first), middle, scale(third), middle, stroke=INK, width=4)
    canvas.circle(scale(median), middle, 3.5, fill=GROUND, stroke=INK)


def _dots(canvas: Canvas, scale: Scale, middle: float, group: Group) -> None:
    for number, value in enumerate(some(group.values, MAX_DOTS)):
        canvas.circle(
            scale(value), middle + spread(number) * 2 * (_HALF - 3), 3, fill=colour_of(group), opacity=0.5
        )
    _mean(canvas, scale, middle, group)


def _passes(canvas: Canvas, scale: Scale, middle: float, group: Group, each: int) -> None:
    """Failures at 0 and passes at 1, in columns of four."""
    for value, inwards in ((0.0, 1), (1.0, -1)):
        for number in range(math.ceil(group.values.count(value) / each)):
            column, line = divmod(number, _COLUMN)
            x, y = (
                scale(value) + inwards * (3 + column * _PITCH),
                middle + (line - (_COLUMN - 1) / 2) * _PITCH,
            )
            canvas.circle(x, y, 2.5, fill=colour_of(group), stroke="none", opacity=0.55)
    _mean(canvas, scale, middle, group)


def _mean(canvas: Canvas, scale: Scale, middle: float, group: Group) -> None:
    mean = float(np.mean(group.values))
    interval = mean_interval(group.values, scale.low, scale.high)
    if interval is not None:
        canvas.line(scale(interval[0]), middle, scale(interval[1]), middle, stroke=INK, width=2)
    what = f"{group.name}: {'share' if is_binary(group.values) else 'mean'} {figure(mean)}"
    within = f", 95 % interval {figure(interval[0])} to {figure(interval[1])}" if interval is not None else ""
    canvas.circle(scale(mean), middle, 4.5, fill=INK, title=what + within)
