"""The record of a run on disk: written as items finish, put in order at the end, read by report and analysis.

First line: the run (`kind` "run"). Then one line per finished item (`kind` "item"). While the run goes on, what the
header does not know yet stands in lines of `kind` "meta"; `finish` folds them into the header and sorts the items, so
that the same inputs give the same record whatever the order in which workers finished.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.engine import quick_json
from pytest_evalstudio.engine.record_schema import header_fault, item_fault
from pytest_evalstudio.engine.scoring.entries import line

FILE = "record.jsonl"
SCHEMA_VERSION = 1
TABLES = ("evaluators", "models", "files", "steps")
"""Parts of the header that grow as items finish: tables by id, key, path, and node id of a workflow's step."""


class RecordWriter:
    """Appends finished items to a record, each at once.

    Args:
        folder: where `record.jsonl` is made; an earlier one is replaced.
        header: what is known at the start.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        self.header: dict[str, Any] = {"kind": "run", "schema_version": SCHEMA_VERSION, **header, **{name: {} for name in TABLES}}
        self._spans: dict[str, tuple[int, int, int]] = {}
        self._file: IO[bytes] = open(self.path, "wb")  # noqa: SIM115  (open as long as the run)
        self._end = 0
        self._write(line(self.header))

    def append(self, text: str, *, identity: str, index: int) -> None:
        """Add the line of a finished item; a later line of the same identity replaces an earlier one.

        Args:
            text: the item as one line of JSON.
            identity: node id, with the part where one item has several lines.
            index: the item's place in the run.
        """
        start = self._end
        self._write(text)
        self._spans[identity] = (index, start, self._end)

    def extend(self, meta: Mapping[str, Mapping[str, Any]]) -> None:
        """Add entries to the header's tables; known ones stay as they are."""
        new: dict[str, dict[str, Any]] = {}
        for name in TABLES:
            table = self.header[name]
            for key, value in meta.get(name, {}).items():
                if key not in table:
                    table[key] = value
                    new.setdefault(name, {})[key] = value
        if new:
            self._write(line({"kind": "meta", **new}))

    def finish(self, ending: Mapping[str, Any]) -> Path:
        """Put the record in its final form: the whole header, then the items in the order of the run.

        Args:
            ending: what the header learns at the end, e.g. {"finished": …}.
        """
        self._file.close()
        self.header |= ending
        _complete(self.header)
        final = self.path.with_suffix(".tmp")
        with open(self.path, "rb") as unsorted, open(final, "wb") as target:
            target.write(line(self.header).encode() + b"\n")
            for _, start, end in sorted(self._spans.values()):
                unsorted.seek(start)
                target.write(unsorted.read(end - start))
        os.replace(final, self.path)
        return self.path

    def _write(self, text: str) -> None:
        self._end += self._file.write(text.encode("ascii") + b"\n")
        self._file.flush()


def record_path(place: str | Path) -> Path:
    """The record that a path means: the file itself, or the one in a report's folder.

    Raises:
        DataError: if there is none.
    """
    path = Path(place)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise DataError(f"there is no record here; give a {FILE} or the folder of a report", source=str(place))
    return path


def read_header(path: Path) -> dict[str, Any]:
    """Return the header of a record, of an unfinished one with all that its lines add.

    Raises:
        DataError: if the file is no record, damaged, or one of another version.
    """
    with open(path, "rb") as file:
        header = _entry(file.readline(), path, 1)
        if not isinstance(header, dict) or header.get("kind") != "run":
            raise DataError("is no record of a run: its first line is not a header", source=str(path), line=1, column=1)
        if header.get("schema_version") != SCHEMA_VERSION:
            found = header.get("schema_version")
            raise DataError(f"is a record of version {found!r}; this version reads {SCHEMA_VERSION}", source=str(path), line=1, column=1)
        header.setdefault("steps", {})  # a record of the time before workflows
        if missing := [name for name in TABLES if name not in header]:
            raise DataError(f"is no record of a run: its header has no {missing[0]!r}", source=str(path), line=1, column=1)
        _refuse(header_fault(header), path, 1)
        if not header.get("finished"):
            _add_tables(header, file, path)
            _refuse(header_fault(header), path, 1)
    return header


def _add_tables(header: dict[str, Any], file: IO[bytes], path: Path) -> None:
    """Add to an unfinished header what later lines say of its tables."""
    if isinstance(header["files"], list):
        _refuse("files: expected an object in a record that is not finished", path, 1)
    for number, raw in enumerate(file, 2):
        if raw.startswith(b'{"kind": "meta"') and raw.endswith(b"\n"):
            for name, table in _entry(raw, path, number).items():
                if name in TABLES:
                    if not isinstance(table, dict):
                        _refuse(f"{name}: expected an object", path, number)
                    header[name] |= table
    _complete(header)


def read_items(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the items of a record in the order of the run, one at a time.

    An unfinished record may end in half a line, and hold an item twice; the half is left out, the last one counts.

    Raises:
        DataError: if a line is not JSON, or no item.
    """
    if read_header(path).get("finished"):
        with open(path, "rb") as file:
            for number, raw in enumerate(file, 1):
                if number > 1 and raw.strip():
                    yield _item(raw, path, number)
        return
    spans: dict[str, tuple[int, int, int]] = {}
    with open(path, "rb") as file:
        start = 0
        for number, raw in enumerate(file, 1):
            end = start + len(raw)
            if raw.endswith(b"\n") and raw.startswith(b'{"kind": "item"'):
                entry = _item(raw, path, number)
                spans[f"{entry['nodeid']}#{entry.get('part', 0)}"] = (entry.get("index", number), start, end)
            start = end
        for _, start, end in sorted(spans.values()):
            file.seek(start)
            yield quick_json.read(file.read(end - start))


def _item(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    entry = _entry(raw, path, number)
    _refuse(item_fault(entry), path, number)
    return entry  # type: ignore[no-any-return]


def _refuse(fault: str, path: Path, number: int) -> None:
    if fault:
        message = f"is not a line of a record: {fault}; take the record as the run wrote it"
        raise DataError(message, source=str(path), line=number, column=1)


def _complete(header: dict[str, Any]) -> None:
    """Give the header's tables their final order and form: files are a list."""
    for name in TABLES:
        header[name] = dict(sorted(header[name].items()))
    header["files"] = list(header["files"].values())


def _entry(raw: bytes, path: Path, number: int) -> Any:
    try:
        return quick_json.read(raw)
    except (ValueError, RecursionError) as exc:
        raise DataError(f"is not a line of a record: {exc}", source=str(path), line=number, column=1) from None
