"""Files with a line for each answer: the results of each evaluator, and those of Agent Evaluation.

They depend on the record alone. Those of a large record are written by another process beside the analysis,
which takes about as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import Item, JsonObject, Run
from pytest_evalstudio.report.agent_evaluation import AgentEvaluation
from pytest_evalstudio.report.descriptions import describe_evaluator
from pytest_evalstudio.report.explainer import outputs_of
from pytest_evalstudio.report.exporters import Exports
from pytest_evalstudio.report.folders import ExplainerFolder
from pytest_evalstudio.report.results import ResultsWriter

MIN_RECORD_BYTES = 8_000_000
"""Size of a record from which on another process is worth its start: about 5,000 short answers."""
Consumer = Callable[[Item], None]


class RowFiles(Struct, frozen=True, kw_only=True):
    """Files that were written.

    Attributes:
        rows: evaluator id to the lines of its results.
        models: model key to its description with the counted requests.
        agent_evaluation: names of the files of Agent Evaluation, none where no such judge ran.
        warnings: of exporters that failed.
    """

    rows: dict[str, int]
    models: dict[str, JsonObject]
    agent_evaluation: tuple[str, ...]
    warnings: tuple[str, ...]


class RowWriter(Protocol):
    """Writes the files while its context lasts.

    Attributes:
        consumers: take each item of the record, in order.
        files: that were written; set at the end.
    """

    consumers: Sequence[Consumer]
    files: RowFiles

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def row_writer(record: Path, output: Path, run: Run, *, has_parquet: bool) -> RowWriter:
    """Return the writer of the files of a record: another process for a large one, where a core is free.

    Args:
        output: the folder of the report.
        run: the header of the record.
        has_parquet: whether results are written as Parquet, too.
    """
    if record.stat().st_size >= MIN_RECORD_BYTES and _has_free_core():
        return RowWriterProcess(record, output, has_parquet=has_parquet)
    return LocalRowWriter(output, run, has_parquet=has_parquet)


def explainer_folders(output: Path, run: Run) -> dict[str, ExplainerFolder]:
    """Return the folder of each evaluator by its id."""
    return {
        id: ExplainerFolder(output, run.run_id, info, outputs_of(info)) for id, info in run.evaluators.items()
    }


class LocalRowWriter:
    """Writes the files in this process."""

    files: RowFiles

    def __init__(self, output: Path, run: Run, *, has_parquet: bool) -> None:
        folders = explainer_folders(output, run)
        self._results = ResultsWriter(
            {id: folder.results for id, folder in folders.items() if folder.info.save_llm_result},
            run.evaluators,
            run.models,
            {
                id: describe_evaluator(folder.info, folder.explanations(), folder.log_name, run.spans.get(id))
                for id, folder in folders.items()
            },
            has_parquet=has_parquet,
        )
        self._judged = AgentEvaluation(output, run, run.evaluators)
        self._exports = Exports()
        self._open = ExitStack()
        self.consumers: Sequence[Consumer] = (
            self._exports.guarded("results", self._results.add),
            self._exports.guarded("Agent Evaluation", self._judged.add),
        )

    def __enter__(self) -> Self:
        self._open.enter_context(self._exports.open("results", self._results))
        self._open.enter_context(self._exports.open("Agent Evaluation", self._judged))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, exc, trace)
        self.files = RowFiles(
            rows=self._results.rows,
            models=self._results.models,
            agent_evaluation=self._judged.files,
            warnings=tuple(self._exports.warnings),
        )


class RowWriterProcess:
    """Has another process write the files; this one writes them where that fails."""

    files: RowFiles
    consumers: Sequence[Consumer] = ()

    def __init__(self, record: Path, output: Path, *, has_parquet: bool) -> None:
        self._record = record
        self._output = output
        self._has_parquet = has_parquet
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", __name__, str(self._record), str(self._output)]
        try:
            self._process = subprocess.Popen(
                [*command, *(["parquet"] if self._has_parquet else [])],
                # The current folder may hold modules of others.
                env={**os.environ, "PYTHONSAFEPATH": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:  # where processes are forbidden
            self._process = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        files = None
        if self._process is not None:
            with self._process:  # which waits for its end
                try:
                    if kind is None:
                        files = _files_of(self._process)
                finally:
                    self._process.kill()
        if kind is None:
            self.files = files or _write_all(self._record, self._output, has_parquet=self._has_parquet)


def _files_of(process: subprocess.Popen[bytes]) -> RowFiles | None:
    """Wait for a process, and return its files; None if it failed."""
    reply, _ = process.communicate()
    if process.returncode:
        return None
    try:
        return msgspec.convert(json.loads(reply), RowFiles)
    except ValueError:
        return None


@uncollected()
def _write_all(record: Path, output: Path, *, has_parquet: bool) -> RowFiles:
    """Write the files of a record in this process."""
    reader = RecordReader(record)
    with LocalRowWriter(output, reader.run, has_parquet=has_parquet) as writer:
        for item in reader.items():
            for consume in writer.consumers:
                consume(item)
    return writer.files


def _has_free_core() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) > 1


def main(record: str, output: str, *options: str) -> None:
    """Write the files of a record, and print their description as JSON."""
    files = _write_all(Path(record), Path(output), has_parquet="parquet" in options)
    # Infinities, which msgspec would write as null, stay.
    sys.stdout.write(json.dumps(msgspec.to_builtins(files)))


if __name__ == "__main__":
    main(*sys.argv[1:])
