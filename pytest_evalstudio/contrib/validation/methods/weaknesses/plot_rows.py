"""Rows of scores: name on the left, scores along an axis, number of cases on the right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.methods.categories import GENERATOR
from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS, QUIET
from pytest_evalstudio.plots.text import fitted
from pytest_evalstudio.text.figures import figure

WIDTH, ROW, HEAD, FOOT = 720, 36, 34, 34
NAMES, FIGURES = 236, 96
"""Pixels for the names on the left and the figures on the right."""
MAX_ROWS = 30
_NOTES, _MORE = 46, 18
_WEAK = "Weak: worse than all other cases by a one-sided test, after Westfall–Young correction."


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAxis:
    """A metric as an axis.

    Attributes:
        key: `evaluator.metric`.
        threshold: None where it has none.
        low, high: ends of the axis.
        mean: of all cases.
    """

    key: str
    better: str
    threshold: float | None
    low: float
    high: float
    mean: float

    @property
    def worst(self) -> float:
        """Return the worst end of the axis."""
        return self.low if self.better == "higher" else self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The scores of a category."""

    name: str
    values: tuple[float, ...]
    weak: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionPanel:
    """The categories of a dimension."""

    name: str
    groups: tuple[Group, ...]


RowDrawer = Callable[[Canvas, Scale, float, Group], None]


def measure(
    key: str, better: str, threshold: float | None, ends: tuple[float, float], values: Sequence[float]
) -> MetricAxis:
    """Return the axis of a metric: its range, or the extent of scores and threshold where it has no end."""
    numbers = list(values)
    if threshold is not None:
        numbers.append(threshold)
    low = ends[0] if math.isfinite(ends[0]) else min(numbers)
    high = ends[1] if math.isfinite(ends[1]) else max(numbers)
    low, high = min(low, *numbers), max(high, *numbers)
    # A scale needs two ends.
    if low == high:
        low, high = low - 0.5, high + 0.5
    return MetricAxis(
        key=key, better=better, threshold=threshold, low=low, high=high, mean=math.fsum(values) / len(values)
    )


def rows_picture(
    title: str,
    description: str,
    axis: MetricAxis,
    panels: Sequence[DimensionPanel],
    draw: RowDrawer,
    *,
    note: str = "",
) -> str:
    """Draw all panels below each other, the worst category of each first.

    `draw` shows the scores of a category.
    """
    shown = [sorted(panel.groups, key=lambda group: _badness(group, axis))[:MAX_ROWS] for panel in panels]
    left_out = [len(panel.groups) - len(groups) for panel, groups in zip(panels, shown, strict=True)]
    height = sum(HEAD + ROW * len(groups) + FOOT for groups in shown) + _MORE * sum(map(bool, left_out))
    canvas = Canvas(title, width=WIDTH, height=height + _NOTES, description=description)
    scale = Scale(axis.low, axis.high, NAMES, WIDTH - FIGURES)
    top = 0.0
    for panel, groups, more in zip(panels, shown, left_out, strict=True):
        canvas.text(12, top + 22, fitted(f"By {named(panel.name)}", WIDTH - 24), classes="b")
        first = top + HEAD
        _grid(canvas, scale, axis, first, first + ROW * len(groups))
        for number, group in enumerate(groups):
            middle = first + ROW * (number + 0.5)
            draw(canvas, scale, middle, group)
            _labels(canvas, middle, group)
        top = first + ROW * len(groups) + FOOT
        if more:
            canvas.text(12, top, f"and {more} more with better means", classes="q s")
            top += _MORE
    _notes(canvas, axis, top, note)
    return canvas.finish()


def in_order(name: str) -> tuple[float, str]:
    """Return a key that sorts names by their leading number: "2_fees" before "10_cards"."""
    number = re.match(r"\d+", name)
    return (float(number[0]) if number else math.inf), name


def named(dimension: str) -> str:
    """Return the label of a dimension; the generator of a question is its query type."""
    return "query type (generator)" if dimension == GENERATOR else dimension


def _badness(group: Group, axis: MetricAxis) -> tuple[float, str]:
    mean = math.fsum(group.values) / len(group.values)
    return (mean if axis.better == "higher" else -mean), group.name


def _grid(canvas: Canvas, scale: Scale, axis: MetricAxis, top: float, bottom: float) -> None:
    for tick in scale.ticks():
        canvas.line(scale(tick), top, scale(tick), bottom)
        canvas.text(scale(tick), bottom + 14, f"{tick:g}", anchor="middle", classes="q s")
    canvas.line(scale.start, bottom, scale.end, bottom, stroke=QUIET)
    canvas.line(scale(axis.mean), top, scale(axis.mean), bottom, stroke=QUIET)
    if axis.threshold is not None:
        canvas.line(
            scale(axis.threshold), top, scale(axis.threshold), bottom, stroke=BAD, width=1.5, dashed=True
        )


def _labels(canvas: Canvas, middle: float, group: Group) -> None:
    short = fitted(group.name, NAMES - 26)
    canvas.text(
        NAMES - 12,
        middle + 4,
        short,
        anchor="end",
        classes="b" if group.weak else "",
        title=group.name if short != group.name else "",
    )
    cases = f"{len(group.values):,} case{'' if len(group.values) == 1 else 's'}"
    canvas.text(WIDTH - FIGURES + 12, middle - 2 if group.weak else middle + 4, cases, classes="q s")
    if group.weak:
        canvas.text(WIDTH - FIGURES + 12, middle + 12, "▼ weak", classes="b s", fill=BAD)


def _notes(canvas: Canvas, axis: MetricAxis, top: float, note: str) -> None:
    y = top + 8
    lines = [(QUIET, False, f"mean of all cases {figure(axis.mean)}")]
    if axis.threshold is not None:
        lines.append((BAD, True, f"threshold {axis.threshold:g} ({axis.better} is better)"))
    x = 12.0
    for colour, dashed, text in lines:
        canvas.line(x, y - 4, x + 22, y - 4, stroke=colour, width=1.5, dashed=dashed)
        canvas.text(x + 28, y, text, classes="q s")
        x += 220
    canvas.text(12, y + 20, " ".join(filter(None, [_WEAK, note])), classes="q s")


def colour_of(group: Group) -> str:
    """Return the colour of a category: that of failures if it is weak."""
    return BAD if group.weak else COLOURS[0]


def spread(number: int) -> float:
    """Return the offset of a dot from its line, -0.5 to 0.5, by the golden section."""
    return (number * 0.6180339887498949) % 1.0 - 0.5


def some(values: Sequence[float], most: int) -> list[float]:
    """At most so many values, evenly taken of all in order."""
    ordered = sorted(values)
    if len(ordered) <= most:
        return ordered
    return [ordered[round(number * (len(ordered) - 1) / (most - 1))] for number in range(most)]
