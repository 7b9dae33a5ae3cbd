"""Heatmaps: a table of numbers whose cells are coloured."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import RULE, colour_between
from pytest_evalstudio.plots.text import fitted, text_width
from pytest_evalstudio.text.figures import percent

CELL_WIDTH, CELL_HEIGHT = 64, 34
_LONGEST_LABEL = 200


def heatmap(
    title: str, rows: Sequence[str], columns: Sequence[str], shares: Sequence[Sequence[float | None]]
) -> str:
    """Return an SVG picture of shares from 0 to 1; 0.5 is neutral.

    Args:
        title: caption.
        rows: labels of the rows.
        columns: labels of the columns; they are numbered in the picture, in the order of a legend.
        shares: one value per row and column, None for an empty cell.
    """
    left = min(_LONGEST_LABEL, max((text_width(f"{len(rows)}  {name}") for name in rows), default=0)) + 24
    width = max(left + CELL_WIDTH * len(columns) + 12, 360)
    description = "; ".join(
        f"{row}: "
        + ", ".join(
            f"{column} {percent(value)}"
            for column, value in zip(columns, values, strict=True)
            if value is not None
        )
        for row, values in zip(rows, shares, strict=True)
    )
    canvas = Canvas(title, width=width, height=60 + CELL_HEIGHT * len(rows) + 14, description=description)
    canvas.text(12, 22, fitted(title, width - 24), classes="b", title=title)
    for number, name in enumerate(columns):
        x = left + CELL_WIDTH * (number + 0.5)
        canvas.text(x, 50, str(number + 1), anchor="middle", classes="q", title=name)
    for row, (name, values) in enumerate(zip(rows, shares, strict=True)):
        y = 60 + CELL_HEIGHT * row
        canvas.text(12, y + 22, fitted(f"{row + 1}  {name}", left - 20), title=name)
        for column, value in enumerate(values):
            x = left + CELL_WIDTH * column
            fill = "none" if value is None else colour_between(0.2 + 0.6 * value)
            tip = "" if value is None else f"{name} against {columns[column]}: {percent(value)}"
            canvas.rect(x, y, CELL_WIDTH - 2, CELL_HEIGHT - 2, fill=fill, stroke=RULE, title=tip)
            if value is not None:
                canvas.text(x + CELL_WIDTH / 2 - 1, y + 21, percent(value), anchor="middle")
    return canvas.finish()
