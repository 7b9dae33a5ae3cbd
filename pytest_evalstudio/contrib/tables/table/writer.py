"""Writer of scored tables: batches as they finish, the manifest at the end.

While a table is incomplete, `.progress/` has the job and an entry for each finished batch, written after the
batch's files. A killed run is continued from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from pytest_evalstudio.contrib.tables.scored_record import (
    MetricAggregate,
    PartEntry,
    ScoredManifest,
    SourceEntry,
    TextsWord,
    encode_manifest,
)
from pytest_evalstudio.contrib.tables.table.reader import ANSWERS, SCORES
from pytest_evalstudio.contrib.tables.table.recognition import MANIFEST, PROGRESS
from pytest_evalstudio.contrib.tables.table.storage import Location, reaching
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.record.codec import decode_plain, portable
from pytest_evalstudio.record.schema import EvaluatorEntry

JOB = "job.json"
LOCK = ".lock"
ENTRY = ".msgpack"
"""Ending of the entries of finished batches; MessagePack holds infinities and is quick."""
# In this order: `_clear` removes the manifest first, so that a half cleared folder does not look complete.
OWNED = (MANIFEST, SCORES, ANSWERS, PROGRESS)
"""Everything that a scored table consists of."""


class Job(Struct, frozen=True, kw_only=True):
    """Everything that decides the content of a scored table, and the name and start of the run.

    Attributes:
        sources: without their numbers of rows, which are not known yet.
        sample: size of the sample; None for all rows.
    """

    run_id: str
    started: str
    sources: tuple[SourceEntry, ...]
    mapping: dict[str, str]
    groups: dict[str, str]
    evaluators: tuple[EvaluatorEntry, ...]
    texts: TextsWord
    batch_rows: int
    sample: int | None
    by: tuple[str, ...]
    seed: int


class ScoredBatch(Struct, frozen=True, kw_only=True):
    """Counts of a scored batch.

    Attributes:
        batch: its number, from 0.
        source: index of its source.
        last_source_row: number of its last row in the source.
        answers: number of answers.
        rows: number of scores.
        models: keys of its models.
    """

    batch: int
    source: int
    last_source_row: int
    answers: int
    rows: int
    models: tuple[str, ...]
    aggregates: tuple[MetricAggregate, ...]


class BatchResult(ScoredBatch, frozen=True, kw_only=True):
    """A scored batch with the content of its files.

    Attributes:
        first_row, last_row: row ids.
        score_file, answer_file: content of its Parquet files; empty for no file.
        answer_rows: rows of `answer_file`.
    """

    first_row: int
    last_row: int
    score_file: bytes
    answer_file: bytes
    answer_rows: int


class BatchEntry(ScoredBatch, frozen=True, kw_only=True):
    """A finished batch, as `.progress/` keeps it."""

    scores: PartEntry
    answer_part: PartEntry | None


class TableWriter:
    """Writes one scored table.

    Args:
        location: its folder.
    """

    def __init__(self, location: Location) -> None:
        self.location = location
        self._progress = location.child(PROGRESS)

    def check(self, *, resume: bool = False, overwrite: bool = False) -> None:
        """Check that the folder may be written.

        Args:
            resume: an incomplete table may be continued.
            overwrite: an earlier table may be deleted.

        Raises:
            ConfigurationError: if it is in use.
        """
        # The lock file stays, and alone is no table.
        names = set(self.location.names()) - {LOCK}
        if (names and not names & {MANIFEST, PROGRESS}) or self._is_file():
            raise ConfigurationError(
                f"{self.location.name}: exists and is not a scored table; choose another folder"
            )
        if overwrite:
            return
        if MANIFEST in names:
            raise ConfigurationError(
                f"{self.location.name}: is a complete scored table; use --overwrite to replace it"
            )
        if PROGRESS in names and not resume:
            raise ConfigurationError(
                f"{self.location.name}: is an incomplete scored table; use --resume to continue it or"
                " --overwrite to begin again"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes of this machine from writing the same folder.

        Raises:
            ConfigurationError: if another one does.
        """
        # Object stores have no locks.
        if not self.location.is_local:
            yield
            return
        path = Path(self.location.path) / LOCK
        with reaching(self.location.name):
            path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(path, wait=False))
            except BlockingIOError:
                raise ConfigurationError(
                    f"{self.location.name}: another process writes this table; wait for its end"
                ) from None
            yield

    def begin(self, job: Job, *, resume: bool = False, overwrite: bool = False) -> Job:
        """Prepare the folder; see `check`.

        Returns:
            The job, with the name and start of the run that is continued.

        Raises:
            ConfigurationError: if the folder is in use, or was begun by another job.
        """
        self.check(resume=resume, overwrite=overwrite)
        recorded = self._progress.child(JOB)
        if overwrite:
            self._clear()
        elif recorded.exists():
            return self._continued(job, recorded)
        recorded.write(_encoded(job))
        return job

    def finished(self) -> Iterable[BatchEntry]:
        """Return the finished batches of an interrupted run."""
        decoder = msgspec.msgpack.Decoder(BatchEntry)
        for name in self._progress.names():
            if name.startswith("batch-") and name.endswith(ENTRY):
                file = self._progress.child(name)
                try:
                    yield decoder.decode(file.read())
                except msgspec.DecodeError as exc:
                    raise DataError(
                        f"is not an entry of a finished batch ({exc}); use --overwrite", source=file.name
                    ) from None

    def add(self, result: BatchResult) -> BatchEntry:
        """Write a scored batch."""
        name = f"part-{result.batch:08}.parquet"
        scores = self._part(f"{SCORES}/{name}", result.rows, result)
        self.location.child(scores.path).write(result.score_file)
        answers = None
        if result.answer_file:
            answers = self._part(f"{ANSWERS}/{name}", result.answer_rows, result)
            self.location.child(answers.path).write(result.answer_file)
        counts = {name: getattr(result, name) for name in ScoredBatch.__struct_fields__}
        entry = BatchEntry(**counts, scores=scores, answer_part=answers)
        self._progress.child(f"batch-{result.batch:08}{ENTRY}").write(msgspec.msgpack.encode(entry))
        return entry

    def finish(self, manifest: ScoredManifest) -> None:
        """Write the manifest, which completes the table, and remove what is no longer needed."""
        # Before the progress is removed: an interruption here leaves a complete table.
        self.location.child(MANIFEST).write(encode_manifest(manifest))
        self._progress.remove()
        paths = {part.path for part in (*manifest.scores, *manifest.answer_parts)}
        for folder in (SCORES, ANSWERS):
            for name in self.location.child(folder).names():
                if f"{folder}/{name}" not in paths:
                    self.location.child(f"{folder}/{name}").remove()

    def _is_file(self) -> bool:
        return self.location.exists() and not self.location.is_folder()

    def _continued(self, job: Job, location: Location) -> Job:
        try:
            # Not strict, since infinities are written as words.
            before = msgspec.convert(decode_plain(location.read()), Job, strict=False)
        except (ValueError, RecursionError):
            raise DataError("is damaged; use --overwrite to begin again", source=location.name) from None
        for name in (
            "sources",
            "mapping",
            "groups",
            "evaluators",
            "texts",
            "batch_rows",
            "sample",
            "by",
            "seed",
        ):
            if _encoded(getattr(before, name)) != _encoded(getattr(job, name)):
                raise ConfigurationError(
                    f"{self.location.name}: was begun with other {_SPOKEN.get(name, name)}; repeat the same"
                    " command with --resume, or use --overwrite to begin again"
                )
        return before

    def _clear(self) -> None:
        for name in OWNED:
            self.location.child(name).remove()

    def _part(self, path: str, rows: int, result: BatchResult) -> PartEntry:
        return PartEntry(path=path, rows=rows, first_row=result.first_row, last_row=result.last_row)


def _encoded(value: object) -> bytes:
    """Return a job, or a part of it, as JSON; infinities become words, half a surrogate pair its escape."""
    return json.dumps(portable(msgspec.to_builtins(value)), allow_nan=False).encode("ascii")


_SPOKEN = {
    "mapping": "--map",
    "groups": "--keep",
    "texts": "--texts",
    "batch_rows": "--batch-rows",
    "sample": "--sample",
    "by": "--by",
    "seed": "--seed",
    "evaluators": "evaluators, or options of them",
    "sources": "sources, or content of them",
}
