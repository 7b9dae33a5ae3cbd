"""Geometry of the small charts: means with their intervals against the threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_evalstudio.engine.analysis.leaderboards import Cell, Leaderboard

WIDTH = 400.0
"""Of the plotting area, in the chart's own units."""


@dataclass(frozen=True, slots=True)
class Line:
    """One model: where its mean, the ends of its interval and its threshold lie.

    Attributes:
        threshold: of its test cases in the mean; None where it is infinite or outside the axis.
    """

    name: str
    value: float
    x: float
    low: float
    high: float
    passes: bool | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Plot:
    """Primary metric of all models on one axis."""

    title: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, float], ...]


def plot(board: Leaderboard) -> Plot | None:
    """The chart of a leaderboard's primary metric; None where no model has a finite value."""
    metric = board.evaluator.primary
    known = [(line, line.cells[metric.key]) for line in board.standings]
    shown = [
        (line, cell, cell.value)
        for line, cell in known
        if cell.value is not None and math.isfinite(cell.value)
    ]
    if not shown:
        return None
    ends = [value for _, cell, value in shown] + [end for _, cell, _ in shown for end in cell.interval or ()]
    low = metric.range[0] if math.isfinite(metric.range[0]) else min(ends)
    high = (
        metric.range[1]
        if math.isfinite(metric.range[1])
        else max([*ends, *([metric.threshold] if math.isfinite(metric.threshold) else [])])
    )
    if high <= low:
        high = low + 1.0

    def place(value: float) -> float:
        return round(WIDTH * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    def ends_of(cell: Cell, value: float) -> tuple[float, float]:
        return cell.interval or (value, value)

    lines = tuple(
        Line(
            name=line.name,
            value=value,
            x=place(value),
            low=place(ends_of(cell, value)[0]),
            high=place(ends_of(cell, value)[1]),
            passes=cell.passes,
            threshold=place(cell.threshold)
            if math.isfinite(cell.threshold) and low <= cell.threshold <= high
            else None,
        )
        for line, cell, value in shown
    )
    marks = [low + (high - low) * step / 4 for step in range(5)]
    return Plot(metric.name, lines, tuple((place(mark), mark) for mark in marks))
