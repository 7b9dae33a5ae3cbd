"""The record of a session, from which the report is built at the end."""

from __future__ import annotations

import importlib
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_evalstudio.asking.runs import AskingRun, RunInputs, UnfinishedRun
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.record.codec import iso_time
from pytest_evalstudio.record.outputs import PREVIOUS, REPORT_FILES, UNFINISHED, OutputFolder
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import JudgeSpend, SessionEnd, Shards
from pytest_evalstudio.record.writer import FILE, RecordWriter
from pytest_evalstudio.run.payload import Payload
from pytest_evalstudio.run.planning import CaseOfModel
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.services import CurrentRun
from pytest_evalstudio.scoring.masking import shown_line
from pytest_evalstudio.scoring.run_header import finished_run, new_run, now

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.analyse import Analysis
    from pytest_evalstudio.analysis.comparison.history import History
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.report.build import Report
    from pytest_evalstudio.run.baseline import SessionBaseline


IMPORT_DELAY_S = 1.0
"""Seconds until the report's modules are imported, so that the import does not delay the first questions."""


class SessionResult(msgspec.Struct, frozen=True, kw_only=True):
    """End of a pytest session.

    Attributes:
        exit_status: that pytest has so far.
        was_stopped: whether it was stopped from outside, and not by the failures that may stop it.
        is_interrupted: whether the record says so; an exit status of its own does, too.
        counts: tests as pytest counts them.
        uncollected: node ids that could not be collected.
        deselected: whether test cases were left out.
        has_tests: whether there were tests to run.
        collected: file, key and model of the items that a comparison does not miss.
    """

    exit_status: int
    was_stopped: bool
    is_interrupted: bool
    counts: SessionEnd
    uncollected: Collection[str]
    deselected: bool
    has_tests: bool
    collected: Collection[CaseOfModel]


class RunOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Files and results that a run has written at its end.

    Attributes:
        report: None where no item finished.
        comparison: with the baseline, None without one.
        history: of earlier runs, None where none is kept.
        failure: why there is no record or report, "" if there is.
        is_interrupted: whether the user ended the session while the report was built.
    """

    report: Report | None = None
    comparison: Comparison | None = None
    history: History | None = None
    failure: str = ""
    is_interrupted: bool = False

    @property
    def not_run(self) -> int:
        """Return the number of items whose model was not asked."""
        return self.report.analysis.verdicts.get("not_run", 0) if self.report is not None else 0

    def fails(self, *, allows_partial: bool) -> bool:
        """Return whether a session that would pass fails: by a gate, missing items, or without a report."""
        gates = self.report.analysis.gates if self.report is not None else ()
        is_worse = self.comparison is not None and bool(self.comparison.fail_reasons)
        is_partial = bool(self.not_run) and not allows_partial
        return bool(self.failure) or is_worse or is_partial or any(not gate.met for gate in gates)

    def properties(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of the properties of the test suite in JUnit files."""
        if self.comparison is not None:
            from pytest_evalstudio.analysis.comparison.sentences import summary_of

            yield "comparison", shown_line(str(summary_of(self.comparison)))
        if self.report is None:
            return
        yield "result", shown_line(self.report.summary.verdict.headline)
        summary, analysis = self.report.summary, self.report.analysis
        yield "coverage", summary.coverage.sentence
        if causes := [f"{cause.total:,} × {cause.title}" for cause in summary.causes]:
            yield "causes", shown_line("; ".join(causes))
        if unchecked := analysis.coverage.unchecked:
            yield "unchecked", str(unchecked)
        if incomplete := analysis.incomplete.count:
            yield "incomplete", str(incomplete)
        if stored := analysis.stored.sentence:
            yield "stored_answers", stored


class Recorder:
    """Receives finished items in the process that pytest reports in.

    Args:
        run: that asks the models; set when the output folder is claimed.
        closing: releases the output folder at the end.
        write_ci_output: writes the formats of CI services, from the record, the summary and the comparison.
        sections: returns title and HTML of the sections that conftest.py files add to the page.

    Attributes:
        output: what was written at the end; empty before.
    """

    def __init__(
        self,
        project: Project,
        run: CurrentRun,
        closing: ExitStack,
        write_ci_output: Callable[[Path, Path, Comparison | None], None],
        sections: Callable[[Analysis], list[tuple[str, str]]],
    ) -> None:
        self._project = project
        self._settings = project.settings
        self._run = run
        self._closing = closing
        self._sections = sections
        self._write_ci_output = write_ci_output
        self.output = RunOutput()
        self._writer: RecordWriter | None = None
        self._record: Path | None = None
        self._failure = ""
        self._judging: Counter[str] = Counter()
        self._folder: OutputFolder | None = None
        self._imports: threading.Timer | None = None
        self._unfinished: UnfinishedRun | None = None

    @property
    def has_items(self) -> bool:
        """Return whether an item has finished."""
        return self._writer is not None

    def import_ahead(self) -> None:
        """Import what the report needs in a thread, while replies of a judge or workers are waited for.

        The thread waits for a second, so that it does not delay the first questions. A worker builds no
        report. A fault is met again, and reported, when the report is built.
        """
        if self._imports is None and not self._settings.command_line.is_worker:
            self._imports = threading.Timer(IMPORT_DELAY_S, _import_report)
            self._imports.daemon = True
            self._imports.start()

    def claim(self, inputs: RunInputs | None = None) -> None:
        """Lock the output folder, move an earlier run's report aside, and begin or continue a run.

        Args:
            inputs: of the run; None where it asks no model.

        Raises:
            ConfigurationError: if another run uses the folder, or it holds files in our places that no
                earlier run wrote.
        """
        if self._folder is not None:
            return
        folder = OutputFolder(self._settings.output())
        with ExitStack() as lock:
            lock.enter_context(folder.locked())
            try:
                folder.check((*REPORT_FILES, PREVIOUS))
                run = self._begun(folder.path, inputs)
                folder.set_aside()
                folder.list_files([*folder.owned(), FILE])
            except OSError as exc:
                raise ConfigurationError(
                    f"{folder.path}: the folder cannot be written to ({exc.strerror or exc})"
                ) from None
            self._closing.push(lock.pop_all())
        self._folder = folder
        self._run.begin(run)

    def _begun(self, folder: Path, inputs: RunInputs | None) -> AskingRun:
        """Return the run that asks; the folder holds its mark until it has ended."""
        self._unfinished = UnfinishedRun(folder / UNFINISHED)
        settings = self._settings
        if inputs is None:
            self._unfinished.end()
            return AskingRun.new(replays=settings.replay, refreshes=settings.refresh)
        return self._unfinished.begin(inputs, replays=settings.replay, refreshes=settings.refresh)

    def receive(self, payload: Payload) -> None:
        """Append what a test report brought, in place of what an earlier attempt at the item did."""
        if self._failure:
            return
        try:
            if self._writer is None:
                self._writer = self._opened()
            self._writer.forget(payload.nodeid)
            if payload.header:
                self._writer.extend(payload.tables())
            for line in payload.lines:
                self._writer.append(line.text.encode(), identity=line.identity, index=line.index)
        except ConfigurationError as exc:
            self._failure = f"the record cannot be written: {exc}"
        except OSError as exc:
            self._failure = (
                f"the record cannot be written: {exc.strerror or exc}"
                f" ({exc.filename or self._settings.output()})"
            )

    def _opened(self) -> RecordWriter:
        self.claim()
        settings = self._settings
        shard = settings.shard
        run = new_run(
            settings.session,
            gates=settings.gates(),
            pytest=settings.command_line.pytest,
            folder=settings.command_line.root,
            shards=Shards(numbers=(shard.number,), total=shard.total) if shard is not None else None,
        )
        asking = self._run.get()
        if asking.is_continuation:
            run = msgspec.structs.replace(run, continues=iso_time(asking.first_began))
        return RecordWriter(settings.output(), run)

    def add_judging(self, spent: Mapping[str, float]) -> None:
        """Add what one process asked of judges: calls, cost_usd, input_tokens, output_tokens."""
        self._judging.update(spent)

    def finish(self, end: SessionResult, baseline: Callable[[], SessionBaseline | None]) -> None:
        """Complete the record, compare it, and build the report."""
        if self._imports is not None:
            self._imports.cancel()
        try:
            self.output = self._finished(end, baseline)
        except KeyboardInterrupt:
            self._failure = f"the report is not complete: interrupted{_remedy(self._record)}"
            self.output = RunOutput(failure=self._failure, is_interrupted=True)
        finally:
            if self._imports is not None and self._imports.is_alive():
                self._imports.join()  # imports after the end would disturb runs within one process
            is_partial = bool(self.output.not_run or end.was_stopped)
            # Without a complete record, the answers are there for the next run only.
            is_partial |= self.output.is_interrupted and self._record is None
            if self._unfinished is not None and not is_partial:
                self._unfinished.end()

    @uncollected()  # a tenth of the time of the imports, and more of a large report
    def _finished(self, end: SessionResult, baseline: Callable[[], SessionBaseline | None]) -> RunOutput:
        if self._writer is None and not self._writes_empty_shard(end):
            self._restore()
            return RunOutput(failure=self._failure)
        assert self._writer is not None
        from pytest_evalstudio.analysis.aggregates import aggregates_of
        from pytest_evalstudio.report.build import build_report

        spend = {name: self._judging[name] for name in JudgeSpend.__struct_fields__}
        run = finished_run(
            self._writer.run,
            interrupted=end.is_interrupted,
            exit_status=end.exit_status,
            judging=msgspec.convert(spend, JudgeSpend) if self._judging else None,
            uncollected=end.uncollected,
            session=end.counts,
            deselected=end.deselected,
        )
        report: Report | None = None
        comparison: Comparison | None = None
        history: History | None = None
        try:
            path = self._record = self._writer.finish(run)
            base = baseline()
            comparison = self._compared(path, base, end.collected)
            history = self._history(path, base.key if base is not None and comparison is not None else "")
            report = build_report(
                path,
                self._settings.output(),
                aggregates_of(self._writer.run, self._project.registry),
                storage_mb=self._storage_mb(),
                more={"conftest.py": self._sections},
                registry=self._project.registry,
                comparison=comparison,
                history=history,
                root=self._settings.command_line.root,
            )
            self._write_ci_output(path, report.markdown, comparison)
            self._send_events(path)
        except (OSError, EvalStudioError, MemoryError, RecursionError) as exc:
            self._failure = f"the report cannot be written: {_cause(exc)}{_remedy(self._record)}"
        return RunOutput(report=report, comparison=comparison, history=history, failure=self._failure)

    def _writes_empty_shard(self, end: SessionResult) -> bool:
        """Begin a record without items for a shard that got none of the tests, so that it can be merged."""
        if self._settings.shard is None or end.has_tests or not end.collected:
            return False
        try:
            self._writer = self._opened()
        except (ConfigurationError, OSError):
            return False
        return True

    def _send_events(self, record: Path) -> None:
        """Send the scores to the collector of the options; without one nothing is sent."""
        address = self._settings.otlp
        if not address:
            return
        from pytest_evalstudio.traces.otel.events import requests
        from pytest_evalstudio.traces.otel.sending import send

        reader = RecordReader(record)
        try:
            send(address, requests(reader.run, reader.items(), texts=self._settings.otlp_texts))
        except EvalStudioError as exc:
            self._project.warn(f"the scores were not sent: {exc}", record)

    def _compared(
        self, record: Path, baseline: SessionBaseline | None, collected: Collection[CaseOfModel]
    ) -> Comparison | None:
        """Return the comparison with the baseline, None without one and where it is not possible."""
        if baseline is None:
            return None
        try:
            return baseline.compare(record, collected)
        except EvalStudioError as exc:
            self._project.warn(f"the run was not compared with its baseline: {exc}", record)
            return None

    def _history(self, record: Path, compared_with: str) -> History | None:
        """Save the run without answers under a name of its own; return all runs, None without a folder.

        Args:
            compared_with: key of its baseline, "" for none.
        """
        folder = self._settings.history()
        if folder is None:
            return None
        from pytest_evalstudio.analysis.comparison.baseline import save
        from pytest_evalstudio.analysis.comparison.history import history, record_files

        try:
            folder.mkdir(parents=True, exist_ok=True)
            reader = RecordReader(record)
            # Windows allows no colon in the name of a file.
            name = f"{reader.run.created.replace(':', '')[:17]}-{reader.run.run_id[:8]}.jsonl"
            save(reader, folder / name, saved=now(), with_answers=False, compared_with=compared_with)
            return history(record_files([folder]))
        except EvalStudioError as exc:
            self._project.warn(f"the history cannot be shown: {exc}", folder)
            return None

    def _restore(self) -> None:
        """Put the earlier report back where no item has finished."""
        if self._folder is None:
            return
        try:
            self._folder.restore()
        except OSError as exc:
            self._failure = f"the earlier report cannot be moved back from {PREVIOUS}: {exc}"

    def _storage_mb(self) -> float | None:
        """Return the megabytes of cache and output, None if the configuration does not limit them."""
        settings = self._settings
        if settings.session.storage.max_mb is None:
            return None
        folders = {settings.cache().resolve(), settings.output().resolve()}
        return (
            sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
            / 1e6
        )


def _import_report() -> None:
    from pytest_evalstudio.core.switching import frequent_switches

    with suppress(Exception), frequent_switches():
        importlib.import_module("pytest_evalstudio.report.build")
        importlib.import_module("pytest_evalstudio.report.page").compile_templates()


def _cause(exc: Exception) -> str:
    """Return the cause of a report that cannot be written."""
    return "the memory is exhausted" if isinstance(exc, MemoryError) else str(exc)


def _remedy(record: Path | None) -> str:
    """Return how to get the report of a record that is complete, "" where it is not."""
    if record is None:
        return ""
    return f". The record is complete: evalstudio report {shlex.quote(str(record))} -o DIR makes the report"
