"""Dot plots: a value with its interval per name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_evalstudio.core.figures import figure
from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS
from pytest_evalstudio.plots.text import fitted, text_width

WIDTH, LINE_HEIGHT = 640, 28
_LONGEST_LABEL = 220


class Dot(NamedTuple):
    """A value with its 95 % interval."""

    name: str
    value: float
    low: float
    high: float


def dot_plot(title: str, dots: Sequence[Dot]) -> str:
    """Return an SVG picture of values with their intervals, one line each, in the given order."""
    left = min(_LONGEST_LABEL, max((text_width(dot.name) for dot in dots), default=0)) + 24
    low, high = min((dot.low for dot in dots), default=0.0), max((dot.high for dot in dots), default=1.0)
    margin = (high - low) * 0.05 or 1.0
    scale = Scale(low - margin, high + margin, left, WIDTH - 70)
    bottom = 44 + LINE_HEIGHT * len(dots)
    description = "; ".join(f"{dot.name}: {dot.value:.0f} ({dot.low:.0f} to {dot.high:.0f})" for dot in dots)
    canvas = Canvas(title, width=WIDTH, height=bottom + 30, description=description)
    canvas.text(12, 22, fitted(title, WIDTH - 24), classes="b", title=title)
    for tick in scale.ticks(5):
        canvas.line(scale(tick), 36, scale(tick), bottom)
        canvas.text(scale(tick), bottom + 18, f"{tick:g}", anchor="middle", classes="q s")
    for number, dot in enumerate(dots):
        y = 44 + LINE_HEIGHT * (number + 0.5)
        canvas.text(12, y + 4, fitted(dot.name, left - 20), title=dot.name)
        canvas.line(scale(dot.low), y, scale(dot.high), y, stroke=COLOURS[0], width=3)
        tip = f"{dot.name}: {figure(dot.value)}, 95 % interval {figure(dot.low)} to {figure(dot.high)}"
        canvas.circle(scale(dot.value), y, 6, fill=COLOURS[0], title=tip)
        canvas.text(WIDTH - 12, y + 4, f"{dot.value:.0f}", anchor="end")
    return canvas.finish()
