"""CSV of data sets and other tables."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from pytest_evalstudio.core.columns import check_columns
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.cells import list_in, object_in
from pytest_evalstudio.formats.source import Source

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
LIST_COLUMNS = (
    "corpus",
    "context",
    "context_sources",
    "context_scores",
    "tool_calls",
    "steps",
    "accepted_outputs",
    "categories",
    "relationships",
    "output_constraints",
    "conversation",
    "images",
    "files",
    "expected_facts",
    "guidelines",
    "expected_documents",
    "expected_chunks",
    "expected_tool_calls",
    "turns",
    "messages",
)
OBJECT_COLUMNS = ("usage", "evaluators", "expected_state", "user")
MAX_CELL_CHARS = 2**31 - 1  # the largest limit that the csv module takes; files are bounded as a whole
MAX_COLUMNS = 1_000


def parse_csv(text: str, name: str) -> Source:
    """Parse the CSV of a data set; cells of list columns are JSON, and plain text is a list of one.

    Raises:
        DataError: if it has no header, a duplicate column, or a row with more cells than the header.
    """
    names, records, lines = read_csv(text, name)
    if not {"input", "messages"} & set(names):
        raise DataError(
            "has no column `input`; an LLM data set needs `input` and `actual_output`",
            source=name,
            line=1,
            column=1,
        )
    rows = []
    for record, line in zip(records, lines, strict=True):
        try:
            rows.append(nested_cells(record))
        except DataError as exc:
            raise DataError(exc.message, source=name, line=line, column=1) from None
    return Source(name=name, text="", data={"inputs": rows}, row_lines=tuple(lines))


class CsvTable(NamedTuple):
    """Columns of a CSV text, the non-empty cells of each row, and the line that it begins at, from 1."""

    names: list[str]
    records: list[dict[str, object]]
    lines: list[int]


def delimiter_of(text: str, name: str) -> str:
    """Return the delimiter of a CSV text: that of the header, "," where it has none.

    A semicolon or tab is taken only where a comma does not divide the header.

    >>> delimiter_of("input;actual_output", "a.csv"), delimiter_of("input,actual_output;x", "a.csv")
    (';', ',')
    """
    if name.lower().endswith(".tsv"):
        return "\t"
    header = text.partition("\n")[0]
    return "," if "," in header else next((sign for sign in ";\t" if sign in header), ",")


def read_csv(text: str, name: str, delimiter: str = "") -> CsvTable:
    """Return the table of a CSV text.

    Args:
        delimiter: between cells; that of the header where not given.

    Raises:
        DataError: if it has a duplicate column, or a row with more or fewer cells than the header.
    """
    # The limit of the module is 131,072 characters, which a context exceeds.
    csv.field_size_limit(MAX_CELL_CHARS)
    # newline="": line breaks within quoted cells must reach the csv module unchanged.
    reader = csv.DictReader(
        io.StringIO(text, newline=""), strict=True, delimiter=delimiter or delimiter_of(text, name)
    )
    records: list[dict[str, object]] = []
    lines: list[int] = []
    try:
        names = list(reader.fieldnames or ())
        if len(names) > MAX_COLUMNS:
            raise DataError(
                f"has more than {MAX_COLUMNS:,} columns; remove those that are not needed",
                source=name,
                line=1,
                column=1,
            )
        check_columns(names, name, line=1)
        for record in reader:
            # DictReader puts surplus cells below the key None, and the value None in place of missing ones.
            if None in record or None in record.values():
                more = "more" if None in record else "fewer"
                raise DataError(
                    f"has {more} cells than the header has columns",
                    source=name,
                    line=reader.line_num,
                    column=1,
                )
            # `line_num` is the last line of a record, and quoted cells may span several.
            breaks = sum(len(_LINE_BREAK.findall(cell)) for cell in record.values() if cell)
            lines.append(reader.line_num - breaks)
            records.append({key: cell for key, cell in record.items() if cell not in ("", None)})
    except csv.Error as exc:
        raise DataError(f"is not CSV: {exc}", source=name, line=reader.reader.line_num, column=1) from None
    return CsvTable(names, records, lines)


def delimiter_for(path: str | Path) -> str:
    """Return the delimiter of a table that is written to a path; `delimiter_of` reads the same."""
    return "\t" if Path(path).suffix.lower() == ".tsv" else ","


def write_csv(records: list[dict[str, object]], delimiter: str = ",") -> str:
    """Return CSV text (RFC 4180) with a column for every key; lists and objects are JSON."""
    rows = [flat_cells(record) for record in records]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\r\n", delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def flat_cells(row: dict[str, object]) -> dict[str, object]:
    """Return a row with its lists and objects as JSON."""
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
        for name, value in row.items()
    }


def nested_cells(record: dict[str, Any]) -> dict[str, object]:
    """Return a record with the lists and objects of its cells; plain text in a list column is a list of one.

    Arrays and tuples of data frames are lists, too.

    Raises:
        DataError: if a list is incomplete.
    """
    for name, cell in record.items():
        # numpy.str_ is a str that has `tolist` as well.
        if hasattr(cell, "tolist") and not isinstance(cell, str):
            cell = record[name] = cell.tolist()  # an array or a number of NumPy
        if isinstance(cell, tuple):
            cell = record[name] = list(cell)
        if not isinstance(cell, str):
            continue
        try:
            if name in LIST_COLUMNS:
                values = list_in(cell)
                record[name] = [cell] if values is None else values
            elif name in OBJECT_COLUMNS:
                value = object_in(cell)
                # `evaluators` may be a list of names; the validation of the row refuses anything else.
                record[name] = (list_in(cell) or cell) if value is None else value
        except ValueError as exc:
            raise DataError(f"column {name!r}: {exc}") from None
    # pandas reads a column of whole numbers with empty cells as floats.
    if isinstance(record.get("run"), float) and record["run"].is_integer():
        record["run"] = int(record["run"])
    return record
