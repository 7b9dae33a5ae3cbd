"""Tables in CSV files that spreadsheets write and read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.csv_text import MAX_COLUMNS

LONGEST_FIELD = 100_000
"""Characters."""
_DELIMITERS = (",", ";", "\t")
_FORMULA = tuple("=+-@\t\r\n")


class Sheet(NamedTuple):
    """A table: the names of its columns, and its rows with their line numbers."""

    names: list[str]
    rows: list[tuple[int, dict[str, str]]]


def read_sheet(path: Path, columns: Sequence[str], content: str) -> Sheet:
    """Read a CSV file whose fields are separated by commas, semicolons or tabs.

    Args:
        path: the file, in UTF-8.
        columns: those that must be there.
        content: what the file holds, for messages: "labels".

    Raises:
        DataError: if the file is not CSV in UTF-8, or a column is missing.
    """
    # The limit applies to the whole process: each reader of CSV sets its own.
    csv.field_size_limit(LONGEST_FIELD)
    try:
        text = read_bytes(path).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text, columns))
        names = [name.strip() for name in reader.fieldnames or ()]
        if len(names) > MAX_COLUMNS:  # each row would have a cell for each of them
            raise DataError(
                f"{path}:1: has more than {MAX_COLUMNS:,} columns; remove those that are not needed"
            )
        if missing := [column for column in columns if column not in names]:
            raise DataError(
                f"{path}:1: there is no column {', '.join(map(repr, missing))}; {content} have the columns"
                f" {', '.join(columns)}"
            )
        reader.fieldnames = names
        rows = [(reader.line_num, {name: row[name] or "" for name in names}) for row in reader]
    except UnicodeDecodeError as exc:
        raise DataError(
            f"{path}: is not UTF-8: {exc.reason} at byte {exc.start}; save it as CSV in UTF-8"
        ) from None
    except csv.Error as exc:
        raise DataError(f"{path}: is not CSV: {exc}") from None
    return Sheet(names, rows)


def _delimiter(text: str, columns: Sequence[str]) -> str:
    """Return the field delimiter: a comma, unless the first line has the columns with another one."""
    first = text.partition("\n")[0]
    return next(
        (
            mark
            for mark in _DELIMITERS
            if set(columns) <= {name.strip() for name in next(csv.reader([first], delimiter=mark), [])}
        ),
        ",",
    )


def write_rows(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return a CSV file that spreadsheets read safely: UTF-8 with a byte-order mark, no formulas.

    Readers read cells back by `plain`.
    """
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([inert(str(row.get(name, ""))) for name in names])
    return text.getvalue().encode("utf-8-sig", "replace")


def inert(cell: str) -> str:
    """Return a cell that no spreadsheet reads as a formula; an apostrophe precedes a possible formula.

    >>> inert("=HYPERLINK(1)"), inert("plain"), inert("'quoted'")
    ("'=HYPERLINK(1)", 'plain', "''quoted'")
    """
    return f"'{cell}" if cell.startswith((*_FORMULA, "'")) else cell


def plain(cell: str) -> str:
    """Undo `inert`.

    >>> plain("'=1"), plain("''quoted'"), plain("'tis")
    ('=1', "'quoted'", "'tis")
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*_FORMULA, "'")) else cell
