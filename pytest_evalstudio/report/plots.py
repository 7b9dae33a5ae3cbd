"""Geometry of the small charts: means with their intervals against the threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_evalstudio.engine.analysis.leaderboards import Leaderboard

WIDTH = 400.0
"""Of the plotting area, in the chart's own units."""


@dataclass(frozen=True, slots=True)
class Line:
    """One model: where its mean and the ends of its interval lie."""

    name: str
    value: float
    x: float
    low: float
    high: float
    passes: bool | None


@dataclass(frozen=True, slots=True)
class Plot:
    """Primary metric of all models on one axis.

    Attributes:
        threshold: its place, None where it is infinite or outside the axis.
    """

    title: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, float], ...]
    threshold: float | None


def plot(board: Leaderboard) -> Plot | None:
    """The chart of a leaderboard's primary metric; None where no model has a finite value."""
    metric = board.evaluator.primary
    known = [(line, line.cells[metric.key]) for line in board.standings]
    shown = [(line, cell, cell.value) for line, cell in known if cell.value is not None and math.isfinite(cell.value)]
    if not shown:
        return None
    ends = [value for _, cell, value in shown] + [end for _, cell, _ in shown for end in cell.interval or ()]
    low = metric.range[0] if math.isfinite(metric.range[0]) else min(ends)
    high = metric.range[1] if math.isfinite(metric.range[1]) else max([*ends, *([metric.threshold] if math.isfinite(metric.threshold) else [])])
    if high <= low:
        high = low + 1.0

    def place(value: float) -> float:
        return round(WIDTH * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    lines = tuple(
        Line(line.name, value, place(value), place((cell.interval or (value, value))[0]), place((cell.interval or (value, value))[1]), cell.passes)
        for line, cell, value in shown
    )
    marks = [low + (high - low) * step / 4 for step in range(5)]
    threshold = place(metric.threshold) if math.isfinite(metric.threshold) and low <= metric.threshold <= high else None
    return Plot(metric.name, lines, tuple((place(mark), mark) for mark in marks), threshold)
