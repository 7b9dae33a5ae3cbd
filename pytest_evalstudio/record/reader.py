"""Reads a record from disk: the header at once, the items one at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.record.codec import decode_line, decode_plain
from pytest_evalstudio.record.outline import AnyItem, decode_outlines
from pytest_evalstudio.record.schema import SCHEMA_VERSION, FileEntry, Item, Line, Run, Tables
from pytest_evalstudio.record.writer import FILE, completed, extend_spans, forget_parts

_BLOCK_BYTES = 1 << 18
"""Bytes of a block of lines, which are decoded together; a larger one takes more time for its memory."""


def record_path(file_path: str | Path) -> Path:
    """Return the record that a path means: the file itself, or the one in a report's folder.

    Raises:
        DataError: if there is no record.
    """
    path = Path(file_path)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise DataError(
            f"there is no record here; give a {FILE} or the folder of a report", source=str(file_path)
        )
    return path


class RecordReader:
    """A record on disk.

    Args:
        path: of the file.

    Attributes:
        run: the header; of an unfinished record with all that its lines add.

    Raises:
        DataError: if the file is not a record, is damaged, or is of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            first = file.readline()
            self._check_version(first)
            self.run = self._header(first)
            if self.run.finished is None:
                self.run = self._with_tables(file)

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of the run.

        An unfinished record may end in half a line and hold an item twice: the half is left out, the last one
        counts.

        Raises:
            DataError: if a line is damaged.
        """
        if self.run.finished is not None:
            with open(self.path, "rb") as file:
                file.readline()
                for number, raw in enumerate(file, 2):
                    yield self._item(raw, number)
            return
        spans: dict[str, tuple[int, ...]] = {}
        with open(self.path, "rb") as file:
            start = len(file.readline())
            for number, raw in enumerate(file, 2):
                end = start + len(raw)
                line = self._line(raw, number) if raw.endswith(b"\n") else None
                if isinstance(line, Item):
                    if line.part == 0:
                        forget_parts(spans, line.nodeid)
                    spans[line.identity] = (line.index, start, end, number)
                start = end
            for _, begin, end, number in sorted(spans.values()):
                file.seek(begin)
                yield self._item(file.read(end - begin), number)

    def outlines(self) -> Iterator[AnyItem]:
        """Yield the items as `items` does, but without what an outline leaves out, where that is faster.

        Raises:
            DataError: if a line is damaged.
        """
        if self.run.finished is None:
            yield from self.items()
            return
        with open(self.path, "rb") as file:
            file.readline()
            number = 2
            while block := file.read(_BLOCK_BYTES):
                # Up to the end of the line that the block cuts.
                block += file.readline()
                outlines = decode_outlines(block)
                if outlines is not None:
                    yield from outlines
                    number += len(outlines)
                else:  # line by line, so that a fault is reported with its line
                    yield from (self._item(raw, start) for start, raw in enumerate(io.BytesIO(block), number))
                    number += block.count(b"\n")

    def _check_version(self, raw: bytes) -> None:
        try:
            # Without the types of this version, which a header of another one need not fit.
            head = decode_plain(raw)
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict) or head.get("kind") != "run":
            raise self._damaged(1, "is not the record of a run: its first line is not a header")
        version = head.get("schema_version")
        if version != SCHEMA_VERSION:
            fact = f"is a record of version {version!r}; this version reads {SCHEMA_VERSION}"
            raise self._damaged(1, f"{fact}. Run the tests again")

    def _header(self, raw: bytes) -> Run:
        line = self._line(raw, 1)
        if not isinstance(line, Run):
            raise self._damaged(1, "is not the record of a run: its first line is not a header")
        return line

    def _with_tables(self, file: Iterator[bytes]) -> Run:
        files: dict[str, FileEntry] = {}
        for number, raw in enumerate(file, 2):
            line = self._line(raw, number) if raw.endswith(b"\n") else None
            if isinstance(line, Tables):
                self.run.evaluators.update(line.evaluators)
                self.run.models.update(line.models)
                self.run.steps.update(line.steps)
                self.run.documents.update(line.documents)
                self.run.arena.update(line.arena)
                self.run.causes.update(line.causes)
                self.run.holdout.update(line.holdout)
                extend_spans(self.run.spans, line.spans)
                files.update(line.files)
        return completed(self.run, files)

    def _item(self, raw: bytes, number: int) -> Item:
        line = self._line(raw, number)
        if not isinstance(line, Item):
            raise self._damaged(
                number, "is not an item; a finished record has one header, followed by items only"
            )
        return line

    def _line(self, raw: bytes, number: int) -> Line:
        try:
            return decode_line(raw)
        except (ValueError, RecursionError) as exc:
            fact = "nested too deeply" if isinstance(exc, RecursionError) else str(exc)
            raise self._damaged(number, f"is not a line of a record: {fact}") from None

    def _damaged(self, number: int, fact: str) -> DataError:
        return DataError(fact, source=str(self.path), line=number, column=1)


def read_run(path: Path) -> Run:
    """Return the header of a record.

    Raises:
        DataError: see `RecordReader`.
    """
    return RecordReader(path).run
