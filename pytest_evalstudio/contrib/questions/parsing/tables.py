"""Tables of a document: heads of columns, and rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

REMARK = re.compile(r"\s?\([^()]*\)|[*†‡¹²³]+(?=\s|$|,)")
"""Remark or mark of a footnote in a name."""
_RULE = re.compile(r":?-{2,}:?")
_INDEX = re.compile(r"(?i)(?:no|nr|#|ref|item no|row|line)\.?")
"""Head of a column that only counts the rows."""


class Table(NamedTuple):
    """The heads of the columns of a table, and its rows with a name in the first cell."""

    heads: list[str]
    rows: list[list[str]]


def cell_statements(text: str) -> Iterator[str]:
    """Yield each cell of a table with its row and the heads of both columns; nothing for other text.

    >>> list(cell_statements("| Leave | Days per year | |---|---| | Moving | 1 |"))
    ['Moving Leave Days per year: 1 Days']
    """
    table = parsed_table(text)
    if table is None:
        return
    for row in table.rows:
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            counted = f" {head.split()[0]}" if head and re.fullmatch(r"[\d.,]+", cell) else ""
            yield f"{row[0]} {table.heads[0]} {head}: {cell}{counted}"


def named_row(question: str, text: str) -> int:
    """Return the number of the row whose first cell has only words of a question, -1 for none."""
    table = parsed_table(text)
    words = set(re.findall(r"\w+", question.casefold()))
    names = (
        [set(re.findall(r"\w+", REMARK.sub("", row[0]).casefold())) for row in table.rows] if table else []
    )
    return max(
        (at for at, name in enumerate(names) if name and name <= words),
        key=lambda at: len(names[at]),
        default=-1,
    )


def parsed_table(text: str) -> Table | None:
    """Return the cells of a table with at least two columns; None for other text."""
    if not text.startswith("|"):
        return None
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    width = next((at for at, cell in enumerate(cells) if _RULE.fullmatch(cell)), 0) - 1
    if width < 2 or not all(_RULE.fullmatch(cell) for cell in cells[width + 1 : 2 * width + 1]):
        return None
    # Rows are joined by an empty cell: "| c | 1 | | d | 2 |".
    rows = [cells[start : start + width] for start in range(2 * width + 2, len(cells), width + 1)]
    heads = cells[:width]
    if _INDEX.fullmatch(heads[0]) and width > 2:
        heads, rows = heads[1:], [row[1:] for row in rows if len(row) > 1]
    return Table(heads, [row for row in rows if row[0]])
