"""Checks of one file that an agent made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.json_pointers import value_at
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.metrics.json_schema import read_schema, refuse_constant, schema_fault
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.comparison import has_part
from pytest_evalstudio.text.folding import same_characters

MAX_BYTES = 64 * 1024 * 1024
"""Larger files are judged by their presence and size alone."""
_MISSING = object()
_KINDS = {
    ".json": "json",
    ".pdf": "pdf",
    ".txt": "text",
    ".md": "text",
    ".csv": "csv",
    ".html": "text",
    ".log": "text",
}


class ArtifactFault(Exception):
    """Fault of an artifact, as text that follows its name."""


def check_content(path: Path) -> None:
    """Check that a file is not empty and has the format of its suffix.

    Raises:
        ArtifactFault: if the check fails.
    """
    check_declared(path)


def check_declared(
    path: Path,
    *,
    kind: str = "",
    min_size: int = 1,
    json_schema: Any = None,
    fields: Mapping[str, Any] | None = None,
    contains: Sequence[str] = (),
    folder: str = ".",
) -> None:
    """Check that a file or folder meets its expectation.

    Args:
        kind: file, folder, json, pdf, text or csv; "" uses the suffix.
        min_size: minimum bytes of a file, or entries of a folder.
        json_schema: schema of a JSON file, as JsonSchema takes it.
        fields: expected values of a JSON file by JSON pointer.
        contains: texts that it must contain.
        folder: folder of relative paths of schemas.

    Raises:
        ArtifactFault: if the check fails.
        ConfigurationError: if the schema is invalid.
    """
    try:
        if kind == "folder" or (not kind and path.is_dir()):
            _check_folder(path, min_size)
            return
        if not path.is_file():
            raise ArtifactFault("is not a file")
        size = path.stat().st_size
        # 0 allows an empty file.
        if size < max(min_size, 0):
            raise ArtifactFault("is empty" if not size else f"has {size} bytes, expected at least {min_size}")
        if size > MAX_BYTES:
            return
        # Requirements on fields say more of the form than the suffix.
        kind = kind or (
            "json" if json_schema is not None or fields else _KINDS.get(path.suffix.lower(), "file")
        )
        text = ""
        if kind == "pdf":
            text = _pdf_text(path)
        elif kind in ("json", "text", "csv") or contains:
            text = _read(path)
    except OSError as exc:
        raise ArtifactFault(f"cannot be read: {exc.strerror or exc}") from None
    if kind in ("json", "text", "csv") and min_size > 0 and not text.strip():
        raise ArtifactFault("is blank")
    if kind == "json":
        _check_json(text, json_schema, fields or {}, folder)
    if kind == "csv":
        _check_csv(text)
    for reason in contains:
        if not has_part(text, reason):
            raise ArtifactFault(f"does not contain {one_line(reason)!r}")


def _check_folder(path: Path, min_size: int) -> None:
    if not path.is_dir():
        raise ArtifactFault("is not a folder")
    entries = sum(1 for _ in path.iterdir())
    if entries < min_size:
        raise ArtifactFault(
            "is an empty folder" if not entries else f"has {entries} entries, expected at least {min_size}"
        )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # spreadsheets begin CSV files with a byte order mark
    except UnicodeDecodeError as exc:
        raise ArtifactFault(f"is not UTF-8 text (byte {exc.start})") from None


def _check_json(text: str, schema: Any, fields: Mapping[str, Any], folder: str) -> None:
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as exc:
        raise ArtifactFault(f"is not JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})") from None
    except (ValueError, RecursionError) as exc:
        raise ArtifactFault(f"is not JSON: {exc}") from None
    if schema is not None:
        if isinstance(schema, str) and not schema.strip().startswith("{"):
            try:
                path_below(Path(folder), schema.strip())
            except ValueError as exc:
                raise ArtifactFault(f"cannot be compared with its json_schema: {exc}") from None
        fault = schema_fault(value, read_schema(schema, folder))
        if fault:
            raise ArtifactFault(f"breaks its schema: {fault}")
    for pointer, expected in fields.items():
        actual = value_at(value, pointer, _MISSING)
        if actual is _MISSING:
            raise ArtifactFault(f"has no field {one_line(pointer)}")
        if not _equal(actual, expected):
            raise ArtifactFault(
                f"field {one_line(pointer)} is {one_line(repr(actual), 60)}, expected"
                f" {one_line(repr(expected), 60)}"
            )


def _equal(actual: object, expected: object) -> bool:
    if isinstance(actual, str) and isinstance(expected, str):
        return same_characters(actual, expected)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return actual.keys() == expected.keys() and all(_equal(actual[key], expected[key]) for key in actual)
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        return len(actual) == len(expected) and all(map(_equal, actual, expected))
    # True equals 1 in Python, not in JSON.
    return isinstance(actual, bool) is isinstance(expected, bool) and bool(actual == expected)


def _check_csv(text: str) -> None:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as exc:
        raise ArtifactFault(f"is not CSV: {exc}") from None
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ArtifactFault(
                f"is not CSV: row {number} has {len(row)} columns, the first has {len(rows[0])}"
            )


def _pdf_text(path: Path) -> str:
    """Return the text of all pages; every page must have text, a picture or a drawing."""
    import logging

    from pypdf import PdfReader

    log = logging.getLogger("pypdf")
    level = log.level
    log.setLevel(logging.CRITICAL)  # pypdf logs what it repairs; the fault is reported instead
    try:
        pages = PdfReader(path, strict=False).pages
        if not len(pages):
            raise ArtifactFault("is a PDF without pages")
        texts = []
        for number, page in enumerate(pages, start=1):
            text = page.extract_text()
            contents = page.get_contents()
            if not text.strip() and (contents is None or not contents.get_data().strip()):
                raise ArtifactFault(f"page {number} is empty")
            texts.append(text)
    except ArtifactFault:
        raise
    except Exception as exc:  # a broken file can make the reader raise anything
        raise ArtifactFault(f"is not a readable PDF: {type(exc).__name__}") from None
    finally:
        log.setLevel(level)
    return "\n".join(texts)
