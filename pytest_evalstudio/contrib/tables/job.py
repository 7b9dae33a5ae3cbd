"""One run of a request: read, score, write, and complete the table."""

from __future__ import annotations

import dataclasses
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from pytest_evalstudio.contrib.tables.engines.local import score_here, score_in_pool
from pytest_evalstudio.contrib.tables.input.fields import Wanted, check_names, wanted_columns
from pytest_evalstudio.contrib.tables.input.sampling import RowSample, draw
from pytest_evalstudio.contrib.tables.input.sources import Stream, TableSource, fields_of, sources_of
from pytest_evalstudio.contrib.tables.request import ScoreRequest
from pytest_evalstudio.contrib.tables.scored_record import SCORED_VERSION, ScoredManifest, SourceEntry
from pytest_evalstudio.contrib.tables.scoring.aggregates import MergedAggregates
from pytest_evalstudio.contrib.tables.scoring.model_wide import with_figures
from pytest_evalstudio.contrib.tables.scoring.rows import model_info
from pytest_evalstudio.contrib.tables.scoring.scorer import BatchScorer, ScorerSetup
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.contrib.tables.table.storage import EXTRA, PURPOSE, Location
from pytest_evalstudio.contrib.tables.table.worst import keep_worst
from pytest_evalstudio.contrib.tables.table.writer import BatchEntry, BatchResult, Job, TableWriter
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.record.schema import Tool
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.run_header import TOOL, evaluator_entry, model_entry, now

Progress = Callable[[int, int | None], None]
"""Called with the number of scored answers and their total, None where it is not known."""


@dataclasses.dataclass(frozen=True, slots=True)
class Finished:
    """A completed table.

    Attributes:
        scored_now: answers that this run scored; others were scored before it was interrupted.
        seconds: time of this run.
        left_out: evaluators that "all" or a property left out, and why.
        broad_choice: that choice, "" for none.
    """

    table: ScoredTable
    scored_now: int
    seconds: float
    left_out: dict[str, str]
    broad_choice: str


def run_request(
    request: ScoreRequest, progress: Progress | None = None, *, begin: Progress | None = None
) -> Finished:
    """Score the table of a request; see `score.score_table`.

    Args:
        request: what to score.
        progress: called after each batch.
        begin: called before the first one, with what earlier runs scored.
    """
    # A missing package is reported before anything is read.
    for module in ("pyarrow", "fsspec", "datasketches"):
        import_extra(module, PURPOSE, extra=EXTRA)
    if request.engine == "ray":
        import_extra("ray", "--engine ray", extra="ray")
    check_names(request.mapping, request.keep)
    sources = sources_of(request.sources)
    plan = _plan(request)
    columns_read = [
        wanted_columns(source.reader().columns(), request.mapping, request.keep, plan.selected, source.name)
        for source in sources
    ]
    _check_rows(sources, columns_read)
    writer = TableWriter(Location.of(request.output))
    # Before the sample is drawn, which may take minutes; `begin` checks again under the lock.
    writer.check(resume=request.resume, overwrite=request.overwrite)
    sample = None
    if request.sample is not None:
        sample = draw(sources, columns_read, size=request.sample, by=request.by, seed=request.seed)
    job = _job(request, sources, columns_read, plan)
    with writer.locked():
        job = writer.begin(job, resume=request.resume, overwrite=request.overwrite)
        return _Run(request, sources, columns_read, writer, job, sample, plan).finish(progress, begin)


class _Run:
    """Scores what is not scored yet, and completes the table."""

    def __init__(
        self,
        request: ScoreRequest,
        sources: Sequence[TableSource],
        columns_read: Sequence[Wanted],
        writer: TableWriter,
        job: Job,
        sample: RowSample | None,
        plan: Plan,
    ) -> None:
        self._request = request
        self._sources = sources
        self._writer = writer
        self._job = job
        self._sample = sample
        self._plan = plan
        self._stream = Stream(
            sources,
            columns_read,
            request.batch_rows,
            sample.chosen if sample is not None else None,
            sample.totals if sample is not None else (),
        )
        self._entries: dict[int, BatchEntry] = {}
        self._merged = MergedAggregates()
        self._scored = 0

    def finish(self, progress: Progress | None, begin: Progress | None) -> Finished:
        """Score the rest of the batches and write the manifest."""
        started = time.monotonic()
        total = self._total()
        for entry in self._writer.finished():
            self._take(entry)
        before = self._scored
        if begin is not None:
            begin(before, total)
        for result in self._results(total):
            self._take(self._writer.add(result))
            if progress is not None:
                progress(self._scored, total)
        seconds = time.monotonic() - started
        self._writer.finish(self._manifest(seconds))
        return Finished(
            table=ScoredTable.open(self._request.output),
            scored_now=self._scored - before,
            seconds=seconds,
            left_out=self._plan.left_out,
            broad_choice=self._plan.broad_choice,
        )

    def _take(self, entry: BatchEntry) -> None:
        self._merged.add(entry.aggregates)
        self._scored += entry.answers
        # The aggregates are merged already; those of all batches would fill the memory.
        self._entries[entry.batch] = msgspec.structs.replace(entry, aggregates=())

    def _results(self, total: int | None) -> Iterator[BatchResult]:
        setup = setup_of(self._request, total, run_id=self._job.run_id)
        done = frozenset(self._entries)
        if self._request.engine == "ray":
            from pytest_evalstudio.contrib.tables.engines.ray import score_with_ray

            return score_with_ray(self._stream, done, setup, self._request)
        waiting = (batch for batch in self._stream.batches() if batch.number not in done)
        return score_here(waiting, setup) if setup.workers == 1 else score_in_pool(waiting, setup)

    def _total(self) -> int | None:
        """Return the number of answers to score, None where it is not known."""
        if self._sample is not None:
            return sum(stratum.sample for stratum in self._sample.sampling.strata)
        rows = [source.reader().rows for source in self._sources]
        return None if None in rows else sum(row for row in rows if row is not None)

    def _manifest(self, seconds: float) -> ScoredManifest:
        entries = [self._entries[number] for number in sorted(self._entries)]
        aggregates = with_figures(self._merged.all(), self._plan.selected)
        answer_parts = tuple(entry.answer_part for entry in entries if entry.answer_part is not None)
        if self._job.texts == "worst":
            answer_parts = keep_worst(self._writer.location, answer_parts, aggregates)
        models = sorted({model for entry in entries for model in entry.models})
        return ScoredManifest(
            schema_version=SCORED_VERSION,
            producer=Tool(name=TOOL, version=version(TOOL)),
            run_id=self._job.run_id,
            started=self._job.started,
            finished=now(),
            sources=self._source_entries(entries),
            mapping=self._job.mapping,
            groups=tuple(self._job.groups),
            ungrouped=tuple(sorted(self._merged.ungrouped)),
            evaluators=self._job.evaluators,
            models=tuple(model_entry(model_info(model)) for model in models),
            answers=sum(entry.answers for entry in entries),
            rows=sum(entry.rows for entry in entries),
            texts=self._job.texts,
            sampling=self._sample.sampling if self._sample is not None else None,
            aggregates=tuple(aggregates),
            scores=tuple(entry.scores for entry in entries),
            answer_parts=answer_parts,
            seconds=round(seconds, 3),
        )

    def _source_entries(self, entries: Sequence[BatchEntry]) -> tuple[SourceEntry, ...]:
        if self._sample is not None:
            counts = list(self._sample.totals)
        else:
            counts = [0] * len(self._sources)
            for entry in entries:
                counts[entry.source] = max(counts[entry.source], entry.last_source_row + 1)
        return tuple(
            msgspec.structs.replace(source, rows=count)
            for source, count in zip(self._job.sources, counts, strict=True)
        )


def _check_rows(sources: Sequence[TableSource], columns_read: Sequence[Wanted]) -> None:
    """Check that one of the sources has a row; the others may be empty.

    Raises:
        DataError: if none has.
    """
    for source, columns in zip(sources, columns_read, strict=True):
        if next(source.reader().read(fields_of(columns), None), None) is not None:
            return
    more = f" (nor have {len(sources) - 1} other sources)" if len(sources) > 1 else ""
    raise DataError(f"has no answers{more}; give a file with rows", source=sources[0].name)


def setup_of(request: ScoreRequest, total: int | None, *, run_id: str) -> ScorerSetup:
    """Return what the processes of a request need.

    Args:
        total: number of answers, None where it is not known; no more workers are started than it has batches.
        run_id: name of the run, under which processes of one machine share the budget of judges.
    """
    workers = request.workers or _cores()
    if total is not None:
        workers = max(1, min(workers, -(-total // request.batch_rows)))
    is_shared = not request.address  # a cluster's machines have no common cache: each actor has its part
    return ScorerSetup(
        config=request.config,
        plugin_modules=tuple(map(_absolute, request.plugin_modules)),
        cache=request.cache,
        workers=workers,
        run_id=run_id if is_shared else "",
        texts=request.texts,
        is_sample=request.sample is not None,
    )


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _plan(request: ScoreRequest) -> Plan:
    """Return the evaluators of a request, all of which are available.

    Faults of the configuration are found here, before any worker starts.
    """
    scorer = BatchScorer(setup_of(request, None, run_id=""))
    scorer.close()
    return scorer.plan


def _absolute(module: str) -> str:
    return str(Path(module).absolute()) if module.endswith(".py") else module


def _job(
    request: ScoreRequest, sources: Sequence[TableSource], columns_read: Sequence[Wanted], plan: Plan
) -> Job:
    return Job(
        run_id=str(uuid.uuid4()),
        started=now(),
        sources=tuple(
            SourceEntry(path=source.name, format=source.format, rows=0, fingerprint=source.fingerprint())
            for source in sources
        ),
        # A field has the same column in all sources that have it.
        mapping={
            field: column
            for field, column in columns_read[0].mapping.items()
            if all(field in columns.mapping for columns in columns_read)
        },
        groups=dict(request.keep),
        evaluators=tuple(evaluator_entry(selected) for selected in plan.selected),
        texts=request.texts,
        batch_rows=request.batch_rows,
        sample=request.sample,
        by=request.by,
        seed=request.seed,
    )
