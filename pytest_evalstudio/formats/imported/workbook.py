"""Workbooks of Excel (`.xlsx`): the rows of the first sheet, read by openpyxl within limits.

A workbook may come from a stranger. It is a zip of XML: its unpacked size is limited before anything is
unpacked, and cells are counted while they are read. Formulas are not computed; their stored values count.
"""

from __future__ import annotations

import datetime
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from pytest_evalstudio.core.columns import check_columns
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.reading import open_file
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.formats.cells import Cell
from pytest_evalstudio.formats.csv_text import MAX_COLUMNS
from pytest_evalstudio.formats.source import Source

SUFFIX = ".xlsx"
MAX_MEMBERS = 10_000
MAX_BYTES = 200_000_000
"""Maximum size of all unpacked members together."""
MAX_CELLS = 5_000_000
"""Maximum number of cells, empty ones between others included."""
_REMEDY = "save the sheet as CSV"
_FAULTS = (zipfile.BadZipFile, ParseError, KeyError, ValueError, TypeError, AttributeError, EOFError)
"""Exceptions of openpyxl for damaged workbooks."""


def read_workbook(path: Path, name: str) -> Source:
    """Return the rows of a workbook's first sheet; its cells are texts, as those of CSV.

    Raises:
        DataError: if it is no workbook or above a limit, or a cell has an error or a formula without a value.
        ConfigurationError: if openpyxl is not installed.
    """
    openpyxl = import_extra("openpyxl", "a workbook of Excel", extra="xlsx")
    try:
        with warnings.catch_warnings(), open_file(path) as file:
            warnings.simplefilter("ignore")  # of parts that are not read, such as validations of cells
            # The sizes in the directory of the zip: openpyxl would unpack a member before its size is known.
            _check_size(file, name)
            # openpyxl gives either the stored values or the formulas, so that it reads the file twice.
            values, formulas = (
                openpyxl.load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
                for data_only in (True, False)
            )
            sheets = values.worksheets
            if not sheets:
                raise DataError(f"has no sheet with cells; {_REMEDY}", source=name)
            rows = _rows(sheets[0], formulas.worksheets[0], name)
            data = list(_records(rows, name))
    except OSError as exc:
        raise DataError(f"cannot be read: {exc.strerror or exc}", source=name) from None
    except _FAULTS as exc:
        if isinstance(exc, DataError):
            raise
        fact = excerpt(str(exc)) or type(exc).__name__
        raise DataError(f"cannot be read as a workbook: {fact}; {_REMEDY}", source=name) from None
    source = Source(name=name, text="", data=data)
    if len(sheets) > 1:
        others = ", ".join(repr(excerpt(sheet.title)) for sheet in sheets[1:])
        source.warnings.append(f"only the first sheet, {excerpt(sheets[0].title)!r}, is read; not {others}")
    return source


def _check_size(file: Any, name: str) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or size > MAX_BYTES:
        raise DataError(
            f"has {len(members):,} members with {size:,} bytes unpacked; at most {MAX_MEMBERS:,} members with"
            f" {MAX_BYTES:,} bytes are read: {_REMEDY}",
            source=name,
        )


def _rows(values: Any, formulas: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with their numbers from 1."""
    count = 0
    for number, (row, written) in enumerate(
        zip(values.iter_rows(), formulas.iter_rows(), strict=True), start=1
    ):
        count += len(row)
        if count > MAX_CELLS or len(row) > MAX_COLUMNS:
            raise DataError(
                f"has more than {MAX_CELLS:,} cells or {MAX_COLUMNS:,} columns; remove empty ones, or"
                f" {_REMEDY}",
                source=name,
            )
        texts = []
        for cell, formula in zip(row, written, strict=True):
            fault = ""
            if cell.data_type == "e":
                fault = f"is the error {cell.value}"
            elif cell.value is None and formula.data_type == "f":
                fault = "is a formula without a stored value; open and save the workbook in Excel"
            if fault:
                raise DataError(f"the cell {formula.coordinate} {fault}", source=name)
            texts.append(_text(cell.value))
        if any(texts):
            yield number, texts


def _text(value: object) -> str:
    """Return a value as a cell of CSV has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    # Excel has no whole numbers: 5 is stored as 5.0.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # A date of Excel is a number of days, which openpyxl reads as midnight of that day.
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _records(rows: Iterator[tuple[int, list[str]]], name: str) -> Iterator[dict[str, Cell]]:
    number, header = next(rows, (1, []))
    names = [text.strip() for text in header]
    # Formatted but empty columns at the right belong to the sheet's range.
    while names and not names[-1]:
        names.pop()
    check_columns(names, name, line=number)
    for number, texts in rows:
        _check_width(names, texts, number, name)
        yield {column: Cell(text) for column, text in zip(names, texts, strict=False) if text}


def _check_width(names: Sequence[str], texts: Sequence[str], number: int, name: str) -> None:
    """Refuse a cell that belongs to no column."""
    for index, text in enumerate(texts):
        is_named = index < len(names) and names[index]
        if text and not is_named:
            raise DataError(
                f"row {number} has a cell in column {index + 1}, which has no name in the first row",
                source=name,
            )
