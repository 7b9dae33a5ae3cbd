"""Writes the record of a run: items as they finish, put in order at the end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import IO

import msgspec

from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.schema import EvaluatorSpan, FileEntry, Item, Run, Tables

FILE = "record.jsonl"
TABLES = ("evaluators", "models", "files", "steps", "documents", "arena", "causes", "holdout", "spans")
"""Parts of the header that grow during the run."""


class RecordWriter:
    """Appends finished items to a record, each at once.

    During the run, data that the header does not contain yet is in separate lines (`Tables`). `finish` merges
    them into the header and sorts the items, so that the same inputs give the same record regardless of the
    order in which workers finished.

    Args:
        folder: folder of `record.jsonl`; an earlier record is replaced.
        run: the header at the start; its tables are empty.
    """

    def __init__(self, folder: Path, run: Run) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        self.run = run
        self._files: dict[str, FileEntry] = {}
        self._spans: dict[str, tuple[int, ...]] = {}
        self._file: IO[bytes] = open(self.path, "wb")  # noqa: SIM115  (open as long as the run)
        self._end = 0
        self._write(encode_line(run))

    def append(self, line: bytes, *, identity: str, index: int) -> None:
        """Add the encoded line of a finished item; a later line of the same identity replaces an earlier one.

        Args:
            identity: `Item.identity`.
            index: `Item.index`.
        """
        start = self._end
        self._write(line)
        self._spans[identity] = (index, start, self._end)

    def append_item(self, item: Item) -> None:
        """Add a finished item."""
        self.append(encode_line(item), identity=item.identity, index=item.index)

    def forget(self, nodeid: str) -> None:
        """Drop the lines of an item so far: another attempt at it has begun to report."""
        forget_parts(self._spans, nodeid)

    def extend(self, tables: Tables) -> None:
        """Add entries to the header's tables; known ones stay as they are, and spans grow."""
        new = Tables(
            evaluators={
                key: entry for key, entry in tables.evaluators.items() if key not in self.run.evaluators
            },
            models={key: entry for key, entry in tables.models.items() if key not in self.run.models},
            files={key: entry for key, entry in tables.files.items() if key not in self._files},
            steps={key: entry for key, entry in tables.steps.items() if key not in self.run.steps},
            documents={
                name: digest for name, digest in tables.documents.items() if name not in self.run.documents
            },
            arena={key: entry for key, entry in tables.arena.items() if key not in self.run.arena},
            causes=tables.causes,
            holdout=tables.holdout,
            spans=tables.spans,
        )
        if not new:
            return
        self.run.evaluators.update(new.evaluators)
        self.run.models.update(new.models)
        self.run.steps.update(new.steps)
        self.run.documents.update(new.documents)
        self.run.arena.update(new.arena)
        self.run.causes.update(new.causes)
        self.run.holdout.update(new.holdout)
        extend_spans(self.run.spans, new.spans)
        self._files.update(new.files)
        self._write(encode_line(new))

    def finish(self, run: Run) -> Path:
        """Put the record in its final form: the whole header, then the items in the order of the run.

        Args:
            run: the header at the end; its tables are replaced by the collected ones.
        """
        self._file.close()
        self.run = completed(
            msgspec.structs.replace(run, **{name: getattr(self.run, name) for name in TABLES}), self._files
        )
        # Beside the record: only within one file system is a file replaced in one step.
        final = self.path.with_name(f".{FILE}.{secrets.token_hex(4)}.tmp")
        with open(self.path, "rb") as unsorted, open(final, "xb") as target:
            target.write(encode_line(self.run) + b"\n")
            # Sorted by the index of the item, the first part of the tuple.
            for _, start, end in sorted(self._spans.values()):
                unsorted.seek(start)
                target.write(unsorted.read(end - start))
        os.replace(final, self.path)
        return self.path

    def close(self) -> None:
        """Close the file of a run that did not finish."""
        self._file.close()

    def _write(self, line: bytes) -> None:
        self._end += self._file.write(line + b"\n")
        # A run that is killed leaves all items that have finished.
        self._file.flush()


def forget_parts(spans: MutableMapping[str, tuple[int, ...]], nodeid: str) -> None:
    """Drop all parts of an item, which an earlier attempt at it left.

    Args:
        spans: `Item.identity` to the place of its line.
    """
    part = 0
    while spans.pop(f"{nodeid}#{part}", None) is not None:
        part += 1


def extend_spans(spans: dict[str, EvaluatorSpan], more: Mapping[str, EvaluatorSpan]) -> None:
    """Extend each evaluator's span by another one of it."""
    for id, span in more.items():
        previous = spans.get(id, span)
        spans[id] = EvaluatorSpan(
            started=min(previous.started, span.started), finished=max(previous.finished, span.finished)
        )


def completed(run: Run, files: dict[str, FileEntry]) -> Run:
    """Return a header with its tables in their final order."""
    return msgspec.structs.replace(
        run,
        evaluators=dict(sorted(run.evaluators.items())),
        models=dict(sorted(run.models.items())),
        steps=dict(sorted(run.steps.items())),
        documents=dict(sorted(run.documents.items())),
        arena=dict(sorted(run.arena.items())),
        causes=dict(sorted(run.causes.items())),
        holdout=dict(sorted(run.holdout.items())),
        spans=dict(sorted(run.spans.items())),
        files=tuple(
            entry for _, entry in sorted({**{entry.path: entry for entry in run.files}, **files}.items())
        ),
    )
