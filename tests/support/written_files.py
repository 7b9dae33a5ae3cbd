"""Files that commands write: whether they are whole, and how many units they have."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable
from pathlib import Path


def fault_of(path: Path) -> str:
    """Return what is wrong with a file, by its kind."""
    try:
        READERS.get(path.suffix, lambda path: 0)(path)
    except (ValueError, OSError, KeyError, ElementTree.ParseError, zipfile.BadZipFile) as exc:
        return f"{type(exc).__name__}: {exc}"
    return ""


def _read_lines(path: Path) -> int:
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines[0].startswith('{"kind":"run"') or path.name == "record.jsonl":
        lines[-1] = ""  # an unfinished record may end in half a line
    return len([json.loads(line) for line in lines if line])


def _read_json(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    json.loads(text)
    return text.count('"key"') or 1


def _read_csv(path: Path) -> int:
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    if len({len(row) for row in rows if row}) > 1:
        raise ValueError("rows of different lengths")
    return len(rows)


def _read_page(path: Path) -> int:
    if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise ValueError("no end of the page")
    return 1


def _read_picture(path: Path) -> int:
    ElementTree.parse(path)  # written by this package
    return 1


def _read_archive(path: Path) -> int:
    with zipfile.ZipFile(path) as files:
        if (name := files.testzip()) is not None:
            raise ValueError(f"{name} is damaged")
        return len(files.namelist())


def _read_parquet(path: Path) -> int:
    import pyarrow
    import pyarrow.parquet

    try:
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    except pyarrow.ArrowException as exc:
        raise ValueError(str(exc)) from None


READERS: dict[str, Callable[[Path], int]] = {
    ".jsonl": _read_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".html": _read_page,
    ".svg": _read_picture,
    ".zip": _read_archive,
    ".parquet": _read_parquet,
}


def units_of(path: Path) -> int:
    return READERS[path.suffix](path)
