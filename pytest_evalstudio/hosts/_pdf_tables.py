"""Tables of PDF pages, found in the layout of the page and written as Markdown."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

_GAP = re.compile(r" {2,}")
_WORD = re.compile(r"\S+")
MIN_ROWS = 3
"""Rows of a table with its head; fewer aligned lines are more often an address or a signature."""
MAX_MEAN_CELL_CHARS = 32
"""Columns of prose have longer lines."""
_TOLERANCE = 3
"""Characters by which the beginnings of a column's cells may differ: letters have different widths."""


class LayoutCell(NamedTuple):
    """Text with the column of its first character."""

    start: int
    text: str


def with_tables(text: str, layout: str) -> str:
    """Return the text of a page with its tables as Markdown.

    Where the words of a table do not follow each other in the text, it stays as it is.

    Args:
        text: of the page, in the order of drawing.
        layout: the same text with spaces for distances, in lines as on the page.
    """
    for rows in tables_in(layout):
        text = _replaced(text, rows)
    return text


def tables_in(layout: str) -> Iterator[list[list[str]]]:
    """Yield the rows of the tables of a page, each a list of its cells."""
    block: list[list[LayoutCell]] = []
    for line in [*layout.split("\n"), "end"]:
        cells = cells_of(line)
        if len(cells) > 1 or (block and cells and cells[0].start > _TOLERANCE and _continues(block, cells)):
            block.append(cells)
        elif cells:
            # A blank line may be a large distance of two rows; a line of text ends the table.
            if rows := rows_of(block):
                yield rows
            block = []


def cells_of(line: str) -> list[LayoutCell]:
    """Return the texts of a line that two or more spaces separate."""
    starts = [0, *(gap.end() for gap in _GAP.finditer(line))]
    ends = [*(gap.start() for gap in _GAP.finditer(line)), len(line)]
    pairs = zip(starts, ends, strict=True)
    cells = ((start + _indent(line[start:end]), line[start:end].strip()) for start, end in pairs)
    return [LayoutCell(start, text) for start, text in cells if text]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _continues(block: Sequence[Sequence[LayoutCell]], cells: Sequence[LayoutCell]) -> bool:
    """Report whether a line continues cells of the row before it."""
    starts = [cell.start for cell in block[-1]]
    return all(any(abs(cell.start - start) <= _TOLERANCE for start in starts) for cell in cells)


def rows_of(block: Sequence[Sequence[LayoutCell]]) -> list[list[str]]:
    """Return the rows of aligned lines; [] if they are no table."""
    if len(block) < MIN_ROWS:
        return []
    width = max(map(len, block))
    full = [cells for cells in block[1:] if len(cells) == width]
    # The head may be centred: the columns are those of the other rows.
    if len(block[0]) != width or len(full) < MIN_ROWS - 1:
        return []
    columns = [round(statistics.median(cells[column].start for cells in full)) for column in range(width)]
    rows = [[cell.text for cell in block[0]]]
    for cells in block[1:]:
        row = [""] * width
        for cell in cells:
            column = min(range(width), key=lambda index: abs(columns[index] - cell.start))
            if abs(columns[column] - cell.start) > _TOLERANCE and len(cells) == width:
                # Numbers are aligned to the right: their order tells the column.
                column = cells.index(cell)
            elif abs(columns[column] - cell.start) > _TOLERANCE:
                return []
            row[column] = f"{row[column]} {cell.text}".strip()
        # A line of fewer cells that begins in lower case goes on with the row before it.
        goes_on = not row[0] or (len(cells) < width and row[0][0].islower())
        if len(rows) == 1 or not goes_on:
            rows.append(row)
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], row, strict=True)]
    lengths = [len(cell) for row in rows for cell in row if cell]
    is_table = len(rows) >= MIN_ROWS and statistics.fmean(lengths) <= MAX_MEAN_CELL_CHARS
    return rows if is_table else []


def _replaced(text: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a text with the words of a table replaced by its rows in Markdown."""
    words = list(_WORD.finditer(text))
    starts = accumulate((len(word[0]) + 1 for word in words), initial=0)
    numbers = {start: number for number, start in enumerate(starts)}
    table = " ".join(word for row in rows for cell in row for word in cell.split())
    position = " ".join(word[0] for word in words).find(table)
    # The table must begin and end with whole words.
    first, after = numbers.get(position), numbers.get(position + len(table) + 1)
    if first is None or after is None:
        return text
    return f"{text[: words[first].start()]}\n\n{markdown(rows)}\n\n{text[words[after - 1].end() :]}"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table, whose head is the first row."""
    head, *body = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])
