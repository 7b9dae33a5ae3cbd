"""Tables of plain text and HTML, written as Markdown, in time that is linear in the text."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence

from pytest_evalstudio.hosts._pdf_tables import (
    MAX_MEAN_CELL_CHARS,
    MIN_ROWS,
    LayoutCell,
    cells_of,
    markdown,
    rows_of,
)

TABLE, ROW, CELL = "\x1d", "\x1e", "\x1f"
"""Marks of the boundaries of tables, rows and cells in the text of an HTML page."""
MARKS = str.maketrans(dict.fromkeys((TABLE, ROW, CELL), " "))
_PIPE = re.compile(r"\s*\|\s*")
_RULE = re.compile(r"[\s|:=+-]*-[\s|:=+-]*")
_TAB = re.compile(r"\t+")
_COLUMNS = range(2, 13)
"""Number of columns of a table that people read."""
_TOLERANCE = 1
"""Characters by which the cells of a column may differ."""
_MAX_ROWS = 2000
"""Longer blocks are data and no table that people read; rows are joined in quadratic time."""
_MAX_LINE_CHARS = 400
_MIN_ROWS_OF_MARKED = 2


def with_text_tables(text: str) -> str:
    r"""Return a text whose tables of aligned columns, of tabs or of pipes are Markdown tables.

    >>> with_text_tables("Part    Period\nForks   5 years\nPaint   2 years")
    '\n| Part | Period |\n| --- | --- |\n| Forks | 5 years |\n| Paint | 2 years |\n'
    """
    pieces: list[str] = []
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        if _is_row(line):
            block.append(line)
            continue
        pieces += _written(block)
        pieces.append(line)
        block = []
    return "\n".join(pieces[:-1])


def _is_row(line: str) -> bool:
    if len(line) > _MAX_LINE_CHARS or not line.strip() or line.lstrip().startswith("|"):
        return False
    return "|" in line or "\t" in line.strip() or "  " in line.strip()


def _written(block: Sequence[str]) -> Sequence[str]:
    """Return the lines of a table in Markdown, with blank lines around it, or the lines as they are."""
    rows = _rows(block)
    if not rows:
        return block
    return ["", *markdown(rows).split("\n"), ""]


def _rows(block: Sequence[str]) -> list[list[str]]:
    if not MIN_ROWS <= len(block) <= _MAX_ROWS:
        return []
    plain = [line for line in block if not _RULE.fullmatch(line)]
    for separator in (_PIPE, _TAB):
        rows = [separator.split(line.strip().strip("|")) for line in plain]
        if len(rows) >= MIN_ROWS and len({len(row) for row in rows}) == 1 and len(rows[0]) in _COLUMNS:
            return rows if all(row[0] for row in rows[1:]) else []
    cells = [cells_of(line) for line in plain]
    is_narrow = max(map(len, cells), default=0) in _COLUMNS
    return rows_of(cells) if is_narrow and _is_aligned(cells) else []


def _is_aligned(rows: Sequence[Sequence[LayoutCell]]) -> bool:
    """Report whether the cells of each column begin, or end, in the same place below the head.

    Two spaces in prose are in another place on each line.
    """
    width = max(map(len, rows))
    full = [row for row in rows[1:] if len(row) == width]
    for column in range(1, width):
        starts = [row[column].start for row in full]
        ends = [row[column].start + len(row[column].text) for row in full]
        if min(_spread(starts), _spread(ends)) > _TOLERANCE:
            return False
    return bool(full)


def _spread(positions: Sequence[int]) -> int:
    return max(positions, default=0) - min(positions, default=0)


def without_marks(text: str) -> str:
    """Return the text of an HTML page with its marked tables in Markdown.

    A table of long cells, or of rows that differ in length, is layout and not data: it becomes paragraphs.
    """
    return "".join(_segment(segment) for segment in text.split(TABLE))


def _segment(text: str) -> str:
    rows = list(_marked_rows(text))
    widths = {len(row) for row in rows}
    lengths = [len(cell) for row in rows for cell in row if cell]
    is_table = len(rows) >= _MIN_ROWS_OF_MARKED and len(widths) == 1 and widths <= set(_COLUMNS)
    if not is_table or statistics.fmean(lengths or [0]) > MAX_MEAN_CELL_CHARS:
        return text.replace(ROW, "\n\n").replace(CELL, " ")
    # What precedes the first row is a caption.
    return f"{text.partition(ROW)[0]}\n\n{markdown(rows)}\n\n"


def _marked_rows(text: str) -> Iterator[list[str]]:
    for row in text.split(ROW)[1:]:
        cells = [" ".join(cell.split()) for cell in row.split(CELL)[1:]]
        if cells:
            yield cells
