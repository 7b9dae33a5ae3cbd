"""What pictures are drawn on: SVG that stands for itself, without script, font or address but its own name
space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

INK, QUIET, RULE, GROUND = "#1c2530", "#5a6672", "#d9dcd8", "#fff"
GOOD, BAD = "#009e73", "#d55e00"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#555f6b")
"""The report's colours of series; they can be told apart by people who are colour-blind."""
FONT_SIZE = 13
_STYLE = (
    f"text{{font:{FONT_SIZE}px"
    f" system-ui,sans-serif}}.q{{fill:{QUIET}}}.s{{font-size:11px}}.b{{font-weight:600}}"
    f".h{{paint-order:stroke;stroke:{GROUND};stroke-width:4px}}"
)
_CHAR_WIDTH = 0.56
"""Mean width of a character, in font sizes."""
_WIDE_CHAR_WIDTH = 1.0
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Anchor = Literal["start", "middle", "end"]


class Canvas:
    """An SVG in the making; lengths are pixels, the origin is at the upper left.

    Args:
        title: what reports show as its caption.
        description: what it shows, for those who cannot see it; figures belong into it.
    """

    def __init__(self, title: str, *, width: float, height: float, description: str = "") -> None:
        self.width = width
        self.height = height
        self._title = title
        self._description = description
        self._marks: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        said: str,
        *,
        anchor: Anchor = "start",
        classes: str = "",
        fill: str = "",
        turned: bool = False,
        title: str = "",
    ) -> None:
        """A line of text on its base line.

        Args:
            classes: of "q" (quiet), "s" (small), "b" (bold) and "h" (with a halo, for text on marks).
            turned: whether it reads upwards.
            title: shown when pointed at, e.g. the whole of what had to be shortened.
        """
        turn = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if turned else ""
        place = f'x="{_number(x)}" y="{_number(y)}"'
        anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._marks.append(
            "<text"
            f" {place}{anchored}{_attribute('class', classes)}{_attribute('fill', fill)}{turn}>{_said(title)}{_safe(said)}</text>"  # noqa: E501
        )

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        stroke: str = RULE,
        width: float = 1,
        dashed: bool = False,
    ) -> None:
        ends = f'x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"'
        self._marks.append(
            f'<line {ends} stroke="{stroke}"{_attribute("stroke-width", width, 1)}{_dashes(dashed)}/>'
        )

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        stroke: str = "",
        opacity: float = 1,
        stroke_width: float = 1,
        title: str = "",
    ) -> None:
        sides = (
            f'x="{_number(x)}" y="{_number(y)}" width="{_number(max(0.0, width))}"'
            f' height="{_number(max(0.0, height))}"'
        )
        style = f'fill="{fill}"{_attribute("fill-opacity", opacity, 1)}{_attribute("stroke", stroke)}{_attribute("stroke-width", stroke_width, 1)}'  # noqa: E501
        self._marks.append(f"<rect {sides} {style}{_closed('rect', title)}")

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str,
        stroke: str = GROUND,
        opacity: float = 1,
        title: str = "",
    ) -> None:
        place = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"'
        style = f'fill="{fill}"{_attribute("fill-opacity", opacity, 1)}{_attribute("stroke", stroke)}'
        self._marks.append(f"<circle {place} {style}{_closed('circle', title)}")

    def path(
        self,
        points: Sequence[tuple[float, float]],
        *,
        stroke: str = "",
        fill: str = "none",
        opacity: float = 1,
        width: float = 1,
        dashed: bool = False,
        closed: bool = False,
        title: str = "",
    ) -> None:
        """Straight lines from point to point."""
        if not points:
            return
        way = "M" + "L".join(f"{_number(x)},{_number(y)}" for x, y in points) + ("Z" if closed else "")
        style = f'fill="{fill}"{_attribute("fill-opacity", opacity, 1)}{_attribute("stroke", stroke)}{_attribute("stroke-width", width, 1)}'  # noqa: E501
        self._marks.append(f'<path d="{way}" {style}{_dashes(dashed)}{_closed("path", title)}')

    def finish(self) -> str:
        """The whole picture."""
        described = f'<desc id="d">{_safe(self._description)}</desc>' if self._description else ""
        named = 'aria-labelledby="t d"' if self._description else 'aria-labelledby="t"'
        return "\n".join(
            [
                (
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(self.width)}'
                    f' {_number(self.height)}" role="img" {named} fill="{INK}">'
                ),
                f'<title id="t">{_safe(self._title)}</title>{described}',
                f"<style>{_STYLE}</style>",
                f'<rect width="{_number(self.width)}" height="{_number(self.height)}" fill="{GROUND}"/>',
                *self._marks,
                "</svg>",
                "",
            ]
        )


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to pixels along an axis.

    Attributes:
        low, high: values; where they are equal, both lie in the middle.
        start, end: pixels of low and of high; start is the greater one on an axis that goes up.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if self.high == self.low:
            return (self.start + self.end) / 2
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def clipped(self, value: float) -> float:
        """The same for the nearest value on the axis."""
        return self(min(max(value, self.low), self.high))

    def ticks(self, count: int = 5) -> list[float]:
        """About so many round values on the axis, in order.

        >>> Scale(0, 1, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / count
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * factor for factor in _STEPS if size * factor >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 12) for number in range(first, last + 1)]


def axes(
    canvas: Canvas, x: Scale, y: Scale, *, x_name: str = "", y_name: str = "", grid: bool = True
) -> None:
    """A frame with ticks, their values and the axes' names, below and on the left; about 45 pixels are needed
    on each of these sides.
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
    """Coloured dots with what they stand for, one under the other.

    Args:
        entries: colour and text.
        y: base line of the first.
        width: pixels of a line; texts are shortened to it.

    Returns:
        The base line of the next one.
    """
    for colour, said in entries:
        canvas.circle(x + 5, y - 4, 5, fill=colour)
        short = fitted(said, width - 18)
        canvas.text(x + 18, y, short, title=said if short != said else "")
        y += line_height
    return y


def text_width(said: str, size: float = FONT_SIZE) -> float:
    """About how many pixels a line of text takes; fonts differ."""
    return sum(_WIDE_CHAR_WIDTH if ord(char) > 0x2E80 else _CHAR_WIDTH for char in said) * size


def fitted(said: str, width: float, size: float = FONT_SIZE) -> str:
    """A text that fits into so many pixels, its end left out where it must be.

    >>> fitted("a long name of a topic", 80)
    'a long na…'
    """
    if text_width(said, size) <= width:
        return said
    kept = said
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def colour_between(share: float, low: str = BAD, high: str = GOOD, middle: str = "#f7f7f5") -> str:
    """A colour on the way from low over middle to high.

    >>> colour_between(0.5)
    '#f7f7f5'
    """
    share = min(1.0, max(0.0, share))
    one, other, way = (low, middle, share * 2) if share < 0.5 else (middle, high, share * 2 - 1)
    mixed = [round(a + (b - a) * way) for a, b in zip(_channels(one), _channels(other), strict=True)]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _number(value: float) -> str:
    return f"{round(float(value), 2):g}" if abs(value) < 1e5 else f"{value:.0f}"


def _attribute(name: str, value: object, default: object = "") -> str:
    return "" if value == default else f' {name}="{value}"'


def _dashes(dashed: bool) -> str:
    return ' stroke-dasharray="4 3"' if dashed else ""


def _closed(element: str, title: str) -> str:
    return f">{_said(title)}</{element}>" if title else "/>"


def _said(title: str) -> str:
    return f"<title>{_safe(title)}</title>" if title else ""


def _safe(text: str) -> str:
    """Text for XML, which has no place for control characters and lone surrogates."""
    return escape("".join(char if char.isprintable() else " " for char in text))
