"""The record of a session, from which the report is built at the end."""

from __future__ import annotations

import importlib
import shlex
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_evalstudio.asking.runs import AskingRun, RunInputs, UnfinishedRun
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.core.switching import frequent_switches
from pytest_evalstudio.plugin.ci_output import CiOutput
from pytest_evalstudio.plugin.display import shown_line
from pytest_evalstudio.plugin.figures import PREFIX
from pytest_evalstudio.plugin.keys import COUNTS, UNCOLLECTED
from pytest_evalstudio.plugin.payload import Payload
from pytest_evalstudio.plugin.private_api import add_suite_property
from pytest_evalstudio.record.outputs import PREVIOUS, REPORT_FILES, UNFINISHED, OutputFolder
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import FAILED_NAMES, JudgeSpend, SessionEnd, Shards
from pytest_evalstudio.record.writer import FILE, RecordWriter
from pytest_evalstudio.scoring.record_texts import iso_time
from pytest_evalstudio.scoring.run_header import finished_run, new_run, now

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.analyse import Analysis
    from pytest_evalstudio.analysis.comparison.history import History
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.plugin.session import EvalSession
    from pytest_evalstudio.report.build import Report


IMPORT_DELAY_S = 1.0
"""Seconds until the report's modules are imported, so that the import does not delay the first questions."""
COMPARISON = "evalstudio.comparison"
"""Property of the test suite in JUnit files."""


class Recorder:
    """Receives finished items in the process that pytest reports in.

    Attributes:
        report: what was built at the end, None before, or where no item finished.
    """

    def __init__(self, evals: EvalSession) -> None:
        self._evals = evals
        self._writer: RecordWriter | None = None
        self._failure = ""
        self._judging: Counter[str] = Counter()
        self._output: OutputFolder | None = None
        self._imports: threading.Timer | None = None
        self.report: Report | None = None
        self.comparison: Comparison | None = None
        self.history: History | None = None
        self.ci_output = CiOutput(evals.config)
        self._unfinished: UnfinishedRun | None = None
        self._session: pytest.Session | None = None

    @property
    def has_items(self) -> bool:
        """Return whether an item has finished."""
        return self._writer is not None

    def import_ahead(self) -> None:
        """Import what the report needs in a thread, while replies of a judge or workers are waited for.

        The thread waits for a second, so that it does not delay the first questions. A worker builds no
        report. A fault is met again, and reported, when the report is built.
        """
        if self._imports is None and not hasattr(self._evals.config, "workerinput"):
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
        if self._output is not None:
            return
        folder = OutputFolder(self._evals.settings.output())
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
            self._evals.services.push(lock.pop_all())
        self._output = folder
        self._evals.begin_asking(run)

    def _begun(self, folder: Path, inputs: RunInputs | None) -> AskingRun:
        """Return the run that asks; the folder holds its mark until it has ended."""
        self._unfinished = UnfinishedRun(folder / UNFINISHED)
        settings = self._evals.settings
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
            self._writer.extend(payload.tables())
            for line in payload.lines:
                self._writer.append(line.text.encode(), identity=line.identity, index=line.index)
        except ConfigurationError as exc:
            self._failure = f"the record cannot be written: {exc}"
        except OSError as exc:
            self._failure = (
                f"the record cannot be written: {exc.strerror or exc}"
                f" ({exc.filename or self._evals.settings.output()})"
            )

    def _opened(self) -> RecordWriter:
        self.claim()
        settings = self._evals.settings
        shard = settings.shard
        run = new_run(
            settings.session,
            gates=settings.gates(),
            pytest=pytest.__version__,
            folder=self._evals.config.rootpath,
            shards=Shards(numbers=(shard.number,), total=shard.total) if shard is not None else None,
        )
        asking = self._evals.asking_run()
        if asking.is_continuation:
            run = msgspec.structs.replace(run, continues=iso_time(asking.first_began))
        return RecordWriter(settings.output(), run)

    def add_judging(self, spent: Mapping[str, float]) -> None:
        """Add what one process asked of judges: calls, cost_usd, input_tokens, output_tokens."""
        self._judging.update(spent)

    def finish(self, session: pytest.Session, exitstatus: int) -> None:
        """Finish the record, build the report, and fail the session where a gate is not met."""
        self._session = session
        if self._imports is not None:
            self._imports.cancel()
        try:
            self._finish(session, exitstatus)
        finally:
            if self._imports is not None and self._imports.is_alive():
                self._imports.join()  # imports after the end would disturb runs within one process
            is_partial = bool(self._not_run or was_interrupted(session, exitstatus))
            if self._unfinished is not None and not is_partial:
                self._unfinished.end()

    def _finish(self, session: pytest.Session, exitstatus: int) -> None:
        if self._writer is None and not self._writes_empty_shard(session):
            self._restore()
            self._fail(session)
            return
        assert self._writer is not None
        with uncollected():  # a tenth of the time of the imports
            from pytest_evalstudio.analysis.aggregates import aggregates_of
            from pytest_evalstudio.report.build import build_report

        spend = {name: self._judging[name] for name in JudgeSpend.__struct_fields__}
        missing: dict[str, None] = session.config.stash.get(UNCOLLECTED, {})
        run = finished_run(
            self._writer.run,
            interrupted=int(exitstatus) == pytest.ExitCode.INTERRUPTED
            or was_interrupted(session, exitstatus),
            exit_status=int(exitstatus),
            judging=msgspec.convert(spend, JudgeSpend) if self._judging else None,
            uncollected=missing,
            session=_session_end(session),
            deselected=self._evals.leaves_out_cases,
        )
        output = self._evals.settings.output()
        path: Path | None = None
        try:
            path = self._writer.finish(run)
            self._compare(path)
            self._add_to_history(path)
            aggregates = aggregates_of(self._writer.run, self._evals.registry)
            self.report = build_report(
                path,
                output,
                aggregates,
                storage_mb=self._storage_mb(),
                more={"conftest.py": self._contributed},
                registry=self._evals.registry,
                comparison=self.comparison,
                history=self.history,
                root=self._evals.config.rootpath,
            )
            self.ci_output.write(path, self.report.summary)
            self._send_events(path)
            add_suite_property(
                self._evals.config, f"{PREFIX}.result", shown_line(self.report.verdict.headline)
            )
            if unchecked := self.report.analysis.coverage.unchecked:
                add_suite_property(self._evals.config, f"{PREFIX}.unchecked", str(unchecked))
            if incomplete := self.report.analysis.incomplete.count:
                add_suite_property(self._evals.config, f"{PREFIX}.incomplete", str(incomplete))
            if stored := self.report.analysis.stored.sentence:
                add_suite_property(self._evals.config, f"{PREFIX}.stored_answers", stored)
        except (OSError, EvalStudioError, MemoryError, RecursionError) as exc:
            self._failure = f"the report cannot be written: {_cause(exc)}{_remedy(path)}"
        self._fail(session)

    def _writes_empty_shard(self, session: pytest.Session) -> bool:
        """Begin a record without items for a shard that got none of the tests, so that it can be merged."""
        if self._evals.settings.shard is None or session.items or not self._evals.collected:
            return False
        try:
            self._writer = self._opened()
        except (ConfigurationError, OSError):
            return False
        return True

    def _send_events(self, record: Path) -> None:
        """Send the scores to the collector of the options; without one nothing is sent."""
        address = self._evals.settings.otlp
        if not address:
            return
        from pytest_evalstudio.traces.otel.events import requests
        from pytest_evalstudio.traces.otel.sending import send

        reader = RecordReader(record)
        try:
            with_texts = bool(self._evals.config.option.evalstudio_otlp_texts)
            send(address, requests(reader.run, reader.items(), texts=with_texts))
        except EvalStudioError as exc:
            self._evals.warn(f"the scores were not sent: {exc}", record)

    def _compare(self, record: Path) -> None:
        baseline = self._evals.baseline
        if baseline is None:
            return
        try:
            self.comparison = baseline.compare(record, self._evals.collected)
        except EvalStudioError as exc:
            self._evals.warn(f"the run was not compared with its baseline: {exc}", record)
            return
        from pytest_evalstudio.analysis.comparison.sentences import summary_of

        add_suite_property(self._evals.config, COMPARISON, shown_line(str(summary_of(self.comparison))))

    def _add_to_history(self, record: Path) -> None:
        """Save the run without its answers beside earlier ones, under a name of its own."""
        folder = self._evals.settings.history()
        if folder is None:
            return
        from pytest_evalstudio.analysis.comparison.baseline import save
        from pytest_evalstudio.analysis.comparison.history import history, record_files

        try:
            folder.mkdir(parents=True, exist_ok=True)
            reader = RecordReader(record)
            name = f"{reader.run.created.replace(':', '')[:17]}-{reader.run.run_id[:8]}.jsonl"
            save(reader, folder / name, saved=now(), with_answers=False)
            self.history = history(record_files([folder]))
        except EvalStudioError as exc:
            self._evals.warn(f"the history cannot be shown: {exc}", folder)

    def _restore(self) -> None:
        """Put the earlier report back where no item has finished."""
        if self._output is None:
            return
        try:
            self._output.restore()
        except OSError as exc:
            self._failure = f"the earlier report cannot be moved back from {PREVIOUS}: {exc}"

    @property
    def _not_run(self) -> int:
        """Return the number of items whose model was not asked."""
        return self.report.analysis.verdicts.get("not_run", 0) if self.report is not None else 0

    def _fail(self, session: pytest.Session) -> None:
        """Fail a session that would pass: a gate is not met, items were not run, or there is no report."""
        gates = self.report.analysis.gates if self.report is not None else ()
        worse = self.comparison is not None and bool(self.comparison.fail_reasons)
        is_partial = bool(self._not_run) and not self._evals.settings.allows_partial
        passing = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if passing and (self._failure or worse or is_partial or any(not gate.met for gate in gates)):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def summarise(self, terminal: Any, *, verbose: bool) -> None:
        """Write the details of a verbose run, the annotations of CI services, and why there is no report."""
        if self._failure:
            terminal.ensure_newline()
            terminal.section("evalstudio", red=True)
            terminal.write_line(self._failure, red=True)
        elif self.report is not None:
            if verbose:
                self._write_details(terminal, self.report)
            self.ci_output.annotate(terminal.reporter)

    def _write_details(self, terminal: Any, report: Report) -> None:
        from pytest_evalstudio.plugin.summary import write_details

        config = self._evals.config
        terminal.ensure_newline()
        terminal.section("evaluation details")
        write_details(terminal, report, config.invocation_params.dir, config.rootpath)
        if self.history is not None and len(self.history.runs) > 1:
            from pytest_evalstudio.analysis.comparison.history import history_lines

            terminal.section("history")
            for line in history_lines(self.history):
                terminal.write_line(line)
        for extra in report.extras:
            terminal.section(extra.title)
            for line in extra.lines():
                terminal.write_line(line)
        if self.comparison is not None:
            from pytest_evalstudio.analysis.comparison.text import comparison_lines

            terminal.section("comparison with the baseline")
            for line in comparison_lines(self.comparison):
                terminal.write_line(line)

    def close(self, terminal: Any) -> None:
        """Write the end of the run, after everything else that pytest writes."""
        if self._failure or self.report is None:
            return
        from pytest_evalstudio.plugin.closing import RunEnd, closing_lines, rerun_command

        config = self._evals.config
        terminal.section("evalstudio")
        end = RunEnd(
            report=self.report,
            start=config.invocation_params.dir,
            root=config.rootpath,
            comparison=self.comparison,
            rerun=rerun_command(config),
            allows_partial=self._evals.settings.allows_partial,
            exit_status=int(self._session.exitstatus) if self._session is not None else 0,
        )
        for line in closing_lines(end):
            terminal.write_line(line.text, **line.markup)

    def _contributed(self, analysis: Analysis) -> list[tuple[str, str]]:
        sections = self._evals.config.hook.pytest_evalstudio_report_sections(analysis=analysis)
        return [pair for pairs in sections for pair in pairs or ()]

    def _storage_mb(self) -> float | None:
        """Return the megabytes of cache and output, None if the configuration does not limit them."""
        settings = self._evals.settings
        if settings.session.storage.max_mb is None:
            return None
        folders = {settings.cache().resolve(), settings.output().resolve()}
        return (
            sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
            / 1e6
        )


def was_interrupted(session: pytest.Session, exitstatus: int) -> bool:
    """Return whether a session was stopped from outside, and not by the failures that may stop it."""
    stopped = session.shouldstop or session.shouldfail
    maxfail = session.config.getoption("maxfail", None) or 0
    by_failures = bool(stopped) or 0 < maxfail <= session.testsfailed
    end = _session_end(session)
    is_broken_off = int(exitstatus) in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
    return (is_broken_off or end.ended < end.collected) and not by_failures


def _session_end(session: pytest.Session) -> SessionEnd:
    """Return the tests of a session as pytest counts them."""
    counts = session.config.stash[COUNTS]
    besides = counts.failed_besides()
    return SessionEnd(
        collected=session.testscollected,
        ended=len(counts.ended),
        failed_besides=len(besides),
        failed_names=tuple(map(shown_line, besides[:FAILED_NAMES])),
    )


def _import_report() -> None:
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
