"""Shares of flipped cases with their intervals, by perturbator, topic and kind of question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_evalstudio.contrib.validation.methods.variations.results import (
    CategoryFlips,
    FlipCounts,
    PerturbatorFlips,
    VariationFlips,
)
from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS, QUIET, RULE
from pytest_evalstudio.plots.text import fitted
from pytest_evalstudio.text.figures import percent

WIDTH, LINE, TOP = 720, 26, 24
NAMES, FIGURES = 250, 150
"""Pixels for the names on the left and the figures on the right."""
Row = FlipCounts | CategoryFlips
AGAIN = "asked again unchanged"


def flips_picture(title: str, flips: VariationFlips) -> str:
    """Draw a share with its 95 % interval (Wilson) per row as SVG; orange rows are beyond chance."""
    groups = _groups(flips)
    height = TOP + sum(LINE * (len(rows) + 1.6) for _, rows in groups) + 30
    canvas = Canvas(title, width=WIDTH, height=height, description=_description(groups))
    scale = Scale(0, 1, NAMES, WIDTH - FIGURES)
    y = float(TOP)
    for head, rows in groups:
        canvas.text(12, y, head, classes="b")
        top = y + LINE * 0.4
        bottom = top + LINE * len(rows)
        for tick in scale.ticks():
            canvas.line(scale(tick), top, scale(tick), bottom, stroke=RULE)
        for number, row in enumerate(rows):
            _row(canvas, scale, top + LINE * (number + 0.5), row)
        y = bottom + LINE * 1.2
    for tick in scale.ticks():
        canvas.text(scale(tick), y - 8, percent(tick), anchor="middle", classes="q s")
    return canvas.finish()


def _groups(flips: VariationFlips) -> list[tuple[str, Sequence[Row]]]:
    copies = [replace(flips.copies, name=AGAIN)] if flips.copies is not None else []
    groups: list[tuple[str, Sequence[Row]]] = [
        ("By perturbator: share of cases that flip", [*flips.by_perturbator, *copies]),
        ("Meaning changed (another answer may be right)", flips.meaning_changed),
        ("By topic: share of cases that some perturbator flips", flips.by_topic),
        ("By kind of question: share of cases that some perturbator flips", flips.by_kind),
    ]
    return [(head, rows) for head, rows in groups if rows]


def _row(canvas: Canvas, scale: Scale, y: float, row: Row) -> None:
    low, high = row.interval
    is_sensitive = isinstance(row, PerturbatorFlips) and row.is_sensitive
    colour = QUIET if row.name == AGAIN else COLOURS[0]
    if is_sensitive:
        colour = BAD
    short = fitted(row.name, NAMES - 24)
    canvas.text(NAMES - 10, y + 4, short, anchor="end", title=row.name if short != row.name else "")
    canvas.line(scale(low), y, scale(high), y, stroke=colour, width=2)
    canvas.circle(scale(row.rate), y, 5, fill=colour, title=_figures(row))
    figures = f"{row.flipped} of {row.cases} (−{row.pass_to_fail} +{row.fail_to_pass})"
    canvas.text(WIDTH - FIGURES + 12, y + 4, figures, classes="q s")


def _figures(row: Row) -> str:
    low, high = row.interval
    flips = f"{row.pass_to_fail} pass to fail, {row.fail_to_pass} fail to pass"
    return f"{row.name}: {percent(row.rate)}, 95 % interval {percent(low)} to {percent(high)}, {flips}"


def _description(groups: Sequence[tuple[str, Sequence[Row]]]) -> str:
    return " ".join(f"{head}. " + "; ".join(map(_figures, rows)) + "." for head, rows in groups)
