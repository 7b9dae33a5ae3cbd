"""Two dimensions at once: a cell for each pair of categories, its colour the mean, its dots the cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_rows import (
    MetricAxis,
    in_order,
    named,
    some,
)
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import GROUND, INK, QUIET, RULE, colour_between
from pytest_evalstudio.plots.text import fitted, text_width
from pytest_evalstudio.text.figures import figure

LEFT, RIGHT, FOOT = 230, 16, 84
MIN_TOP, MAX_TOP = 60, 190
CELL_HEIGHT = 52
NARROWEST, WIDEST, ABOUT = 62, 120, 720
MAX_ROWS, MAX_COLUMNS = 25, 16
_PITCH = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCell:
    """The scores of a pair of categories, and whether it is weak."""

    values: tuple[float, ...]
    weak: bool


def bivariate(
    title: str, axis: MetricAxis, names: tuple[str, str], cells: Mapping[tuple[str, str], PairCell]
) -> str:
    """Draw two dimensions as SVG; weak cells have a thick frame and a mark.

    Colours go from orange, the worst score, over pale, the threshold (or the mean of all where there is
    none), to green, the best. Dots are cases, as many as there is room for; the number of cases is written.
    Of more than 25 rows or 16 columns those with weak cells and the most cases are shown.
    """
    rows, more_rows = _kept([row for row, _ in cells], cells, 0, MAX_ROWS)
    columns, more_columns = _kept([column for _, column in cells], cells, 1, MAX_COLUMNS)
    wide = min(WIDEST, max(NARROWEST, (ABOUT - LEFT - RIGHT) // len(columns)))
    top = min(MAX_TOP, max([MIN_TOP, *(text_width(column) + 24 for column in columns)]))
    width = max(680, LEFT + RIGHT + wide * len(columns))
    weak = sum(cell.weak for cell in cells.values())
    description = (
        f"{len(cells)} pairs of {named(names[0])} and {named(names[1])} have cases, {weak} of them are weak."
    )
    canvas = Canvas(title, width=width, height=top + CELL_HEIGHT * len(rows) + FOOT, description=description)
    for y, label in ((top - 30, f"{named(names[1])} →"), (top - 12, f"{named(names[0])} ↓")):
        canvas.text(LEFT - 10, y, fitted(label, LEFT - 20), anchor="end", classes="q s")
    for number, column in enumerate(columns):
        short = fitted(column, top - 20)
        canvas.text(
            LEFT + wide * (number + 0.5) + 4,
            top - 10,
            short,
            turned=True,
            title=column if short != column else "",
        )
    for number, row in enumerate(rows):
        short = fitted(row, LEFT - 24)
        canvas.text(
            LEFT - 10,
            top + CELL_HEIGHT * (number + 0.5) + 4,
            short,
            anchor="end",
            title=row if short != row else "",
        )
    frames = []
    for down, row in enumerate(rows):
        for across, column in enumerate(columns):
            x, y = LEFT + wide * across, top + CELL_HEIGHT * down
            cell = cells.get((row, column))
            if cell is None:
                canvas.rect(x, y, wide, CELL_HEIGHT, fill=GROUND, stroke=RULE)
            else:
                _cell(canvas, x, y, wide, axis, cell, f"{row}, {column}")
                frames += [(x, y)] if cell.weak else []
    for x, y in frames:
        canvas.rect(x + 1.5, y + 1.5, wide - 3, CELL_HEIGHT - 3, stroke=INK, stroke_width=3)
    _legend(canvas, axis, top + CELL_HEIGHT * len(rows) + 20, more_rows, more_columns)
    return canvas.finish()


def _kept(
    names: Sequence[str], cells: Mapping[tuple[str, str], PairCell], axis: int, most: int
) -> tuple[list[str], int]:
    """Return the categories with weak cells and the most cases, and the number of the others."""
    sizes = {
        name: sum(len(cell.values) for pair, cell in cells.items() if pair[axis] == name)
        for name in dict.fromkeys(names)
    }
    weak = {pair[axis] for pair, cell in cells.items() if cell.weak}
    names_shown = sorted(sizes, key=lambda name: (name not in weak, -sizes[name], name))[:most]
    return sorted(names_shown, key=in_order), len(sizes) - len(names_shown)


def _cell(
    canvas: Canvas, x: float, y: float, wide: float, axis: MetricAxis, cell: PairCell, name: str
) -> None:
    mean = math.fsum(cell.values) / len(cell.values)
    cases = f"{len(cell.values)} case{'' if len(cell.values) == 1 else 's'}"
    title = f"{name}: mean {figure(mean)} of {cases}{', weak' if cell.weak else ''}"
    canvas.rect(x, y, wide, CELL_HEIGHT, fill=_colour(mean, axis), opacity=0.75, stroke=RULE, title=title)
    columns = int((wide - 12) // _PITCH)
    lines = int((CELL_HEIGHT - 24) // _PITCH)
    for number, value in enumerate(some(cell.values, columns * lines)):
        down, across = divmod(number, columns)
        canvas.circle(
            x + 9 + across * _PITCH, y + 9 + down * _PITCH, 3, fill=_colour(value, axis), stroke=QUIET
        )
    canvas.text(x + 6, y + CELL_HEIGHT - 7, f"{len(cell.values)}", classes="s")
    label = f"▼ {mean:.2g}" if cell.weak else f"{mean:.2g}"
    canvas.text(x + wide - 6, y + CELL_HEIGHT - 7, label, anchor="end", classes="b s" if cell.weak else "s")


def _colour(value: float, axis: MetricAxis) -> str:
    """Orange to green, pale at the threshold."""
    middle = axis.mean if axis.threshold is None else axis.threshold
    best = axis.low + axis.high - axis.worst
    if (value >= middle) == (axis.better == "higher"):
        share = 0.5 + 0.5 * (value - middle) / (best - middle) if best != middle else 1.0
    else:
        share = 0.5 - 0.5 * (middle - value) / (middle - axis.worst) if middle != axis.worst else 0.0
    return colour_between(share)


def _legend(canvas: Canvas, axis: MetricAxis, y: float, more_rows: int, more_columns: int) -> None:
    middle = axis.mean if axis.threshold is None else axis.threshold
    width, steps = 200, 40
    for number in range(steps):
        shade = colour_between((number + 0.5) / steps)
        canvas.rect(16 + width / steps * number, y, width / steps + 0.5, 12, fill=shade)
    ends = (axis.worst, middle, axis.low + axis.high - axis.worst)
    for position, (value, anchor) in enumerate(zip(ends, ("start", "middle", "end"), strict=True)):
        canvas.text(16 + width / 2 * position, y + 26, figure(value), anchor=anchor, classes="q s")  # type: ignore[arg-type]
    what = "mean of all" if axis.threshold is None else "threshold"
    canvas.text(
        16 + width + 16, y + 11, f"{axis.better} is better; pale: {what} {figure(middle)}", classes="q s"
    )
    canvas.text(
        16,
        y + 48,
        "Dots: cases, as far as there is room. Lower left: number of cases; lower right: mean. Thick frame"
        " and ▼: weak.",
        classes="q s",
    )
    left_out = [
        f"{count} {kind}" for count, kind in ((more_rows, "rows"), (more_columns, "columns")) if count
    ]
    if left_out:
        canvas.text(
            16 + width + 16, y + 26, f"not shown, with fewer cases: {' and '.join(left_out)}", classes="q s"
        )
