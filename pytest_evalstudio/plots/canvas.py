"""A canvas that writes self-contained SVG."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from typing import Literal

from pytest_evalstudio.plots.colours import GROUND, INK, QUIET, RULE
from pytest_evalstudio.plots.text import FONT_SIZE

_STYLE = (
    f"text{{font:{FONT_SIZE}px"
    f" system-ui,sans-serif}}.q{{fill:{QUIET}}}.s{{font-size:11px}}.b{{font-weight:600}}"
    f".h{{paint-order:stroke;stroke:{GROUND};stroke-width:4px}}"
)
Anchor = Literal["start", "middle", "end"]


class Canvas:
    """An SVG picture; lengths are in pixels, the origin is at the upper left.

    Args:
        title: caption in reports.
        description: text alternative for people who cannot see the picture, with its figures.
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
        content: str,
        *,
        anchor: Anchor = "start",
        classes: str = "",
        fill: str = "",
        turned: bool = False,
        title: str = "",
    ) -> None:
        """Draw a line of text on its base line.

        Args:
            anchor: "start", "middle" or "end".
            content: the text.
            fill: colour.
            x: horizontal position in pixels.
            y: vertical position in pixels.
            classes: of "q" (quiet), "s" (small), "b" (bold) and "h" (with a halo, for text on marks).
            turned: True for text that reads upwards.
            title: tooltip, e.g. the full text of a shortened one.
        """
        turn = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if turned else ""
        attributes = f'x="{_number(x)}" y="{_number(y)}"'
        anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._marks.append(
            "<text"
            f" {attributes}{anchored}{_attribute('class', classes)}{_attribute('fill', fill)}{turn}>{_tooltip(title)}{_safe(content)}</text>"  # noqa: E501
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
        """Draw a straight line."""
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
        """Draw a rectangle; negative lengths count as 0."""
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
        """Draw a filled circle."""
        attributes = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"'
        style = f'fill="{fill}"{_attribute("fill-opacity", opacity, 1)}{_attribute("stroke", stroke)}'
        self._marks.append(f"<circle {attributes} {style}{_closed('circle', title)}")

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
        """Draw straight lines from point to point."""
        if not points:
            return
        way = "M" + "L".join(f"{_number(x)},{_number(y)}" for x, y in points) + ("Z" if closed else "")
        style = f'fill="{fill}"{_attribute("fill-opacity", opacity, 1)}{_attribute("stroke", stroke)}{_attribute("stroke-width", width, 1)}'  # noqa: E501
        self._marks.append(f'<path d="{way}" {style}{_dashes(dashed)}{_closed("path", title)}')

    def finish(self) -> str:
        """Return the whole picture."""
        # Ids must be unique in a page with several pictures, and the same in each run.
        content = "\n".join((self._title, self._description, *self._marks))
        id = hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:8]
        described = f'<desc id="d-{id}">{_safe(self._description)}</desc>' if self._description else ""
        named = f'aria-labelledby="t-{id}{f" d-{id}" if self._description else ""}"'
        return "\n".join(
            [
                (
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(self.width)}'
                    f' {_number(self.height)}" role="img" {named} fill="{INK}">'
                ),
                f'<title id="t-{id}">{_safe(self._title)}</title>{described}',
                f"<style>{_STYLE}</style>",
                f'<rect width="{_number(self.width)}" height="{_number(self.height)}" fill="{GROUND}"/>',
                *self._marks,
                "</svg>",
                "",
            ]
        )


def _number(value: float) -> str:
    # Hundredths of a pixel are not seen; `g` would write large numbers with an exponent.
    return f"{round(float(value), 2):g}" if abs(value) < 1e5 else f"{value:.0f}"


def _attribute(name: str, value: object, default: object = "") -> str:
    return "" if value == default else f' {name}="{value}"'


def _dashes(dashed: bool) -> str:
    return ' stroke-dasharray="4 3"' if dashed else ""


def _closed(element: str, title: str) -> str:
    return f">{_tooltip(title)}</{element}>" if title else "/>"


def _tooltip(title: str) -> str:
    return f"<title>{_safe(title)}</title>" if title else ""


def _safe(text: str) -> str:
    """Escape text for XML, which forbids control characters and lone surrogates."""
    return escape("".join(char if char.isprintable() else " " for char in text))
