"""Line charts of means with intervals over runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_evalstudio.plots.axes import Scale, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, QUIET
from pytest_evalstudio.plots.text import fitted
from pytest_evalstudio.text.figures import figure

WIDTH, HEIGHT, LINE_HEIGHT = 640, 260, 22
MAX_LINES = len(COLOURS)


class LinePoint(NamedTuple):
    """A mean with its 95 % interval, None where it is not known."""

    mean: float
    low: float | None
    high: float | None


class PlotLine(NamedTuple):
    """A named line with a point per run, None where a run has none."""

    name: str
    points: Sequence[LinePoint | None]


def line_chart(title: str, runs: Sequence[str], lines: Sequence[PlotLine]) -> str:
    """Return an SVG picture of several lines over runs.

    Args:
        title: caption.
        runs: label of each run, in order.
        lines: at most `MAX_LINES` are drawn.
    """
    shown = lines[:MAX_LINES]
    points = [point for line in shown for point in line.points if point is not None]
    ends = [end for point in points for end in point if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    margin = (high - low) * 0.05 or 0.05  # equal values would give a scale without a height
    description = "; ".join(
        f"{line.name}: {', '.join('none' if point is None else figure(point.mean) for point in line.points)}"
        for line in shown
    )
    height = HEIGHT + LINE_HEIGHT * len(shown) + 10
    canvas = Canvas(title, width=WIDTH, height=height, description=description)
    canvas.text(12, 20, fitted(title, WIDTH - 24), classes="b", title=title)
    x = Scale(0, max(1, len(runs) - 1), 60, WIDTH - 60)
    y = Scale(low - margin, high + margin, HEIGHT - 40, 40)
    for value in y.ticks(4):
        canvas.line(60, y(value), WIDTH - 24, y(value))
        canvas.text(52, y(value) + 4, f"{value:g}", anchor="end", classes="q s")
    step = max(1, -(-len(runs) // 6))  # rounded up: there is room for six labels
    for number in range(0, len(runs), step):
        canvas.text(x(number), HEIGHT - 20, fitted(runs[number], 90), anchor="middle", classes="q s")
    canvas.line(60, HEIGHT - 40, WIDTH - 24, HEIGHT - 40, stroke=QUIET)
    for colour, line in zip(COLOURS, shown, strict=False):
        _draw(canvas, x, y, colour, line, runs)
    legend(
        canvas,
        60,
        HEIGHT + 14,
        [(colour, line.name) for colour, line in zip(COLOURS, shown, strict=False)],
        width=WIDTH - 84,
        line_height=LINE_HEIGHT,
    )
    return canvas.finish()


def _draw(canvas: Canvas, x: Scale, y: Scale, colour: str, line: PlotLine, runs: Sequence[str]) -> None:
    points = [(x(number), y(point.mean)) for number, point in enumerate(line.points) if point is not None]
    canvas.path(points, stroke=colour, width=2)
    for number, point in enumerate(line.points):
        if point is None:
            continue
        if point.low is not None and point.high is not None:
            canvas.line(x(number), y(point.low), x(number), y(point.high), stroke=colour)
        canvas.circle(
            x(number),
            y(point.mean),
            4,
            fill=colour,
            title=f"{line.name}, {runs[number]}: {figure(point.mean)}",
        )
