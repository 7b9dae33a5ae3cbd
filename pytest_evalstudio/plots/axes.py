"""Scales, axes and legends."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import QUIET
from pytest_evalstudio.plots.text import fitted

# 10 is for a rough step above 5.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Scale(Struct, frozen=True):
    """Map values to pixels along an axis.

    Attributes:
        low, high: values; where they are equal, both lie in the middle.
        start, end: pixels of low and of high; start is the greater one on an axis that goes up.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value in pixels."""
        if self.high == self.low:
            return (self.start + self.end) / 2
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Return about `count` round values on the axis, in order.

        >>> Scale(0, 1, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / count
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * factor for factor in _STEPS if size * factor >= rough * 0.999)
        # Without the tolerance a tick at an end is lost: 0.3 / 0.1 is 2.9999999999999996.
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 12) for number in range(first, last + 1)]


def axes(
    canvas: Canvas, x: Scale, y: Scale, *, x_name: str = "", y_name: str = "", grid: bool = True
) -> None:
    """Draw ticks, their values and the axes' names below and on the left.

    Each of these sides needs about 45 pixels.
    """
    left, right, top, bottom = (
        min(x.start, x.end),
        max(x.start, x.end),
        min(y.start, y.end),
        max(y.start, y.end),
    )
    for value in x.ticks():
        if grid:
            canvas.line(x(value), top, x(value), bottom)
        canvas.text(x(value), bottom + 16, f"{value:g}", anchor="middle", classes="q s")
    for value in y.ticks():
        if grid:
            canvas.line(left, y(value), right, y(value))
        canvas.text(left - 6, y(value) + 4, f"{value:g}", anchor="end", classes="q s")
    canvas.line(left, bottom, right, bottom, stroke=QUIET)
    canvas.line(left, top, left, bottom, stroke=QUIET)
    if x_name:
        canvas.text((left + right) / 2, bottom + 36, x_name, anchor="middle", classes="q")
    if y_name:
        canvas.text(left - 36, (top + bottom) / 2, y_name, anchor="middle", classes="q", turned=True)


def legend(
    canvas: Canvas,
    x: float,
    y: float,
    entries: Sequence[tuple[str, str]],
    *,
    width: float,
    line_height: float = 22,
) -> float:
    """Draw coloured dots with their labels, one under the other.

    Args:
        canvas: to draw on.
        line_height: pixels per line.
        x: horizontal position in pixels.
        entries: colour and text.
        y: base line of the first entry.
        width: pixels of a line; texts are shortened to it.

    Returns:
        The base line of the next entry.
    """
    for colour, label in entries:
        canvas.circle(x + 5, y - 4, 5, fill=colour)
        short = fitted(label, width - 18)
        canvas.text(x + 18, y, short, title=label if short != label else "")
        y += line_height
    return y
