"""Dot plots: a value with its interval per name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS
from pytest_evalstudio.plots.text import fitted, text_width
from pytest_evalstudio.text.figures import figure

WIDTH, LINE_HEIGHT = 640, 28
_LONGEST_LABEL = 220


class Dot(NamedTuple):
    """A value with its 95 % interval."""

    name: str
    value: float
    low: float
    high: float


def dot_plot(
    title: str,
    dots: Sequence[Dot],
    *,
    threshold: float | None = None,
    shown: Callable[[float], str] = "{:.0f}".format,
) -> str:
    """Return an SVG picture of values with their intervals, one line each, in the given order.

    Args:
        threshold: drawn as a dashed line where given.
        shown: text of a value.
    """
    left = min(_LONGEST_LABEL, max((text_width(dot.name) for dot in dots), default=0)) + 24
    ends = [*(dot.low for dot in dots), *(dot.high for dot in dots)]
    ends += [threshold] if threshold is not None else []
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    # Equal ends would have no scale.
    margin = (high - low) * 0.05 or 1.0
    scale = Scale(low - margin, high + margin, left, WIDTH - 70)
    bottom = 44 + LINE_HEIGHT * len(dots)
    description = "; ".join(
        f"{dot.name}: {shown(dot.value)} ({shown(dot.low)} to {shown(dot.high)})" for dot in dots
    )
    canvas = Canvas(title, width=WIDTH, height=bottom + 30, description=description)
    canvas.text(12, 22, fitted(title, WIDTH - 24), classes="b", title=title)
    for tick in scale.ticks(5):
        canvas.line(scale(tick), 36, scale(tick), bottom)
        canvas.text(scale(tick), bottom + 18, f"{tick:g}", anchor="middle", classes="q s")
    if threshold is not None:
        canvas.line(scale(threshold), 36, scale(threshold), bottom, stroke=BAD, width=1.5, dashed=True)
    for number, dot in enumerate(dots):
        y = 44 + LINE_HEIGHT * (number + 0.5)
        canvas.text(12, y + 4, fitted(dot.name, left - 20), title=dot.name)
        canvas.line(scale(dot.low), y, scale(dot.high), y, stroke=COLOURS[0], width=3)
        tip = f"{dot.name}: {figure(dot.value)}, 95 % interval {figure(dot.low)} to {figure(dot.high)}"
        canvas.circle(scale(dot.value), y, 6, fill=COLOURS[0], title=tip)
        canvas.text(WIDTH - 12, y + 4, shown(dot.value), anchor="end")
    return canvas.finish()
