"""State of one pytest session with evaluations, and what its hooks do; no other module takes it."""

from __future__ import annotations

import atexit
import functools
import gc
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from pytest_evalstudio.asking.runs import AskingRun, UnfinishedRun
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.plugin.display import FileWarnings, SafeTerminal, usage_error
from pytest_evalstudio.plugin.figures import PREFIX as PROPERTIES
from pytest_evalstudio.plugin.keys import COUNTS, FROZEN, SPENT
from pytest_evalstudio.plugin.late_fixtures import PREFIX, evaluates
from pytest_evalstudio.plugin.options import settings_of
from pytest_evalstudio.plugin.private_api import add_suite_property
from pytest_evalstudio.plugin.reports import Announced, ReportContext
from pytest_evalstudio.plugin.terminal.failure_display import FailureDisplay
from pytest_evalstudio.record.outputs import UNFINISHED
from pytest_evalstudio.run.planning import (
    CaseOfModel,
    RunPlan,
    announcement,
    check_gates,
    check_tables,
    question_count,
    run_inputs,
)
from pytest_evalstudio.run.project import CollectionLog, Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.masking import shown_line
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.analyse import Analysis
    from pytest_evalstudio.asking.runs import RunInputs
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.plugin.ci_output import CiOutput
    from pytest_evalstudio.plugin.items import EvalItem, RecordedItem
    from pytest_evalstudio.plugin.late_fixtures import FixtureFunction
    from pytest_evalstudio.plugin.sharing import WorkerPlan
    from pytest_evalstudio.run.recorder import Recorder


COLLECTION_INTERVAL = 5_000
"""New objects from which on the garbage collector searches them; all are searched after 600,000."""


@functools.cache
def end_quickly() -> None:
    """Skip the search for garbage when the process ends: 0.1 s in any run, over a second in a large one."""
    atexit.register(gc.freeze)


class SharedTimes:
    """Time that tests take in several workers, beside that which a process takes to start.

    Args:
        workers: of the run.
    """

    def __init__(self, *, workers: int) -> None:
        self._workers = workers
        self._start_s = time.process_time()
        self._began = time.perf_counter()
        self._tests_s = 0.0

    def end(self) -> None:
        """Take the time at which all tests have ended."""
        self._tests_s = time.perf_counter() - self._began

    @property
    def hint(self) -> str:
        """Return that one process would be quicker, "" where it would not surely be.

        One process needs at most the time of all workers, and starts once; with workers, it starts twice.
        """
        if self._workers < 2 or (self._workers - 1) * self._tests_s >= self._start_s:
            return ""
        return (
            f"the tests took {self._tests_s:.1f} s, and the start of a process {self._start_s:.1f} s;"
            " this run is quicker without -n"
        )


class EvalSession:
    """Project, services, plan and record of one pytest session.

    Attributes:
        log: of the collection.
        plan: of this process; None before all files are collected.
        announcement: line about the interrupted run that this one continues, "" for a new one.
        collected: file, key and model of the items that a comparison does not miss, though they may not run:
            the deselected ones, and with a baseline all collected ones.
        has_deselected: whether pytest deselected test cases.
        failures: on the terminal.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = settings_of(config)
        self.log = CollectionLog()
        self.project = Project(
            settings=self.settings, warn=FileWarnings(), register=self._register, provider=self._provider
        )
        self.services = Services(self.project)
        self.plan: RunPlan | None = None
        self.announcement = ""
        self.collected: set[CaseOfModel] = set()
        self.has_deselected = False
        self.failures = FailureDisplay()
        self._session: pytest.Session | None = None
        self._shared: WorkerPlan | None = None
        self._shared_times: SharedTimes | None = None

    def _register(self, registry: Registry) -> None:
        self.config.hook.pytest_evalstudio_register.call_historic(kwargs={"registry": registry})

    def _provider(self) -> ModelProvider:
        return self.services.provider

    @functools.cached_property
    def recorder(self) -> Recorder:
        """Return the writer of record and report, used in one process only."""
        from pytest_evalstudio.run.recorder import Recorder

        services = self.services
        return Recorder(self.project, services.run, services.closing, self.ci_output.write, self._sections)

    @functools.cached_property
    def ci_output(self) -> CiOutput:
        """Return the formats of CI services that are written with the report."""
        from pytest_evalstudio.plugin.ci_output import CiOutput

        return CiOutput(self.config, self.settings.command_line.ini)

    def _sections(self, analysis: Analysis) -> list[tuple[str, str]]:
        sections = self.config.hook.pytest_evalstudio_report_sections(analysis=analysis)
        return [pair for pairs in sections for pair in pairs or ()]

    @property
    def has_record(self) -> bool:
        """Return whether this process has begun to record."""
        return "recorder" in self.__dict__

    @functools.cached_property
    def reports(self) -> ReportContext:
        """Return what the reports of this process have in common."""
        return ReportContext(
            project=self.project, services=self.services, announced=Announced(), plan=self.plan
        )

    def check_options(self) -> None:
        """Refuse malformed options before anything is collected."""
        try:
            self.settings.check()
        except ConfigurationError as exc:
            raise usage_error(exc) from None

    @functools.cached_property
    def fixture_functions(self) -> Mapping[str, FixtureFunction]:
        """Functions of eval_<id> and the other fixtures, by name."""
        from pytest_evalstudio.plugin.fixtures import fixture_functions

        try:
            return fixture_functions(self.project, self.services)
        except ConfigurationError as exc:
            raise usage_error(exc) from None

    def offer_fixtures(self, *, besides: Collection[str]) -> None:
        """Make the fixtures known to the session, but for those that it knows already."""
        from pytest_evalstudio.plugin.fixtures import fixture_plugin

        functions = {
            name: function for name, function in self.fixture_functions.items() if name not in besides
        }
        self.config.pluginmanager.register(fixture_plugin(functions), "evalstudio-fixtures")

    def note_deselected(self, items: Sequence[EvalItem]) -> None:
        """Note items that are not to run; a comparison does not miss them."""
        for item in items:
            self.collected.update(item.planned.cases_of_models)
        self.has_deselected |= bool(items)

    @property
    def leaves_out_cases(self) -> bool:
        """Return whether options or plugins left out test cases; the parts of a shared run are known."""
        return self.settings.selects_cases or (self.has_deselected and self.settings.shard is None)

    def prepare(
        self, session: pytest.Session, items: Sequence[EvalItem], others: Sequence[RecordedItem]
    ) -> None:
        """Plan the run of the collected items, open what they need, and begin it.

        Raises:
            ConfigurationError: if something is not available or contradicts something else.
        """
        if self.log.refusals:
            return
        self.project.models.check_names()
        labels = dict.fromkeys(label for other in others for label in other.labels)
        if items or labels:
            check_gates(self.project, labels)
        if session.config.option.collectonly:
            return
        askers = [*others, *filter(evaluates, session.items)]
        inputs = run_inputs(self.project, [item.planned for item in items], [item.path for item in askers])
        if self.settings.estimates:
            self._begin_estimate(inputs)
            return
        self._compare(items)
        # Opened now, so that what they lack is said before anything is asked.
        _ = self.services.follow_ups
        self._spare_garbage_collector(len(items) + len(others))
        for item in items:
            item.open(self.services.models)
        self.plan = self._plan(session, items, others, inputs)
        for other in others:
            other.open()
        self._start(self.plan, items, has_askers=bool(askers))

    def _start(self, plan: RunPlan, items: Sequence[EvalItem], *, has_askers: bool) -> None:
        """Begin the run here, or let the controller of this worker begin it."""
        if not self.settings.command_line.is_worker:
            if (items or has_askers) and not self.config.getoption("setuponly", False):
                self._begin(plan)
        elif plan.chunks or has_askers:  # skipped items alone are scheduled by xdist
            self._send(plan, items)

    def _spare_garbage_collector(self, items: int) -> None:
        if items:
            # The collector would search modules and items again and again: 8 % of the processor time of a run
            # of two cases, more of a large one.
            gc.freeze()
            young, middle, old = self.config.stash[FROZEN] = gc.get_threshold()
            # With few objects left to search, the next searches of all come soon and grow with the reports
            # that pytest keeps: a tenth of the processor time of a large run.
            if young:  # with 0 the user has switched the collector off
                gc.set_threshold(max(young, COLLECTION_INTERVAL), middle, old)
            end_quickly()

    def _begin_estimate(self, inputs: RunInputs | None) -> None:
        """Take the run that would be continued; nothing is written."""
        if inputs is not None:
            mark = UnfinishedRun(self.settings.output() / UNFINISHED)
            self.services.run.begin(mark.planned(inputs, replays=self.settings.replay))

    def _compare(self, items: Sequence[EvalItem]) -> None:
        """Find the items in the baseline, and mark those that are expected to fail again."""
        if not items or (baseline := self.services.baseline) is None:
            return
        baseline.check([item.planned for item in items])
        for item in items:
            self.collected.update(item.planned.cases_of_models)
            if self.settings.expects_known_failures and (fault := baseline.expected_fault(item.planned)):
                item.add_marker(pytest.mark.xfail(reason=fault.reason, raises=fault.kind, strict=False))

    def _plan(
        self,
        session: pytest.Session,
        items: Sequence[EvalItem],
        others: Sequence[RecordedItem],
        inputs: RunInputs | None,
    ) -> RunPlan:
        """Put the items that will run into chunks, and return the plan of this process."""
        from pytest_evalstudio.plugin.items import set_run_index
        from pytest_evalstudio.run.chunks import Evaluation, Pacing, chunks_of, open_pipelines

        planned = [item.planned for item in items]
        for index, test in enumerate(session.items if self.settings.shard is None else ()):
            set_run_index(test, index)
        pipelines = open_pipelines(self.services, planned)
        fixtures = {name for test in session.items for name in getattr(test, "fixturenames", ())}
        check_tables(
            self.project, {name.removeprefix(PREFIX) for name in fixtures if name.startswith(PREFIX)}
        )
        evaluation = Evaluation(
            services=self.services,
            pacing=Pacing(grows=self._item_may_end_run),
            confirmation=self.services.confirmation(planned),
            import_report=lambda: self.recorder.import_ahead(),
        )
        chunks = chunks_of(planned, pipelines, evaluation, self.settings.command_line.workers)
        names: dict[str, str] = {}
        for item in items:
            chunk = chunks.get(item.planned.task)
            if chunk is not None:
                item.chunk = chunk
                item.locate()
                names[item.nodeid] = chunk.name
        return RunPlan(
            chunks={**names, **{other.nodeid: other.chunk_name for other in others}},
            evaluators=pipelines.evaluators,
            inputs=inputs,
            questions=question_count(planned),
        )

    @property
    def _item_may_end_run(self) -> bool:
        option = self.config.option
        return bool(option.maxfail or getattr(option, "stepwise", False))

    def _send(self, plan: RunPlan, items: Sequence[EvalItem]) -> None:
        """Send the plan of this worker to the controller, which replies with the run."""
        from pytest_evalstudio.plugin.sharing import receive_run, send_plan, worker_plan
        from pytest_evalstudio.run.planning import run_wide

        collected = self.collected if self.services.baseline is not None else ()
        evaluators = run_wide(self.project, plan) if items else {}
        shared = worker_plan(plan, items, evaluators, collected, deselected=self.leaves_out_cases)
        send_plan(self.config, shared)
        self.services.run.share(functools.partial(receive_run, self.config))

    def _begin(self, plan: RunPlan) -> None:
        self.recorder.claim(plan.inputs)
        self.services.tracing()
        self._announce(plan.questions)

    def _announce(self, questions: int) -> None:
        """Note the line that announces the continuation of an interrupted run."""
        self.announcement = announcement(self.services.run.get(), self.settings.cache(), questions)

    def refuse(self, message: str) -> None:
        """End the run before it starts.

        Raises:
            pytest.UsageError: in the process that reports.
        """
        if not self.settings.command_line.is_worker:
            raise usage_error(message)
        from pytest_evalstudio.plugin.sharing import WorkerPlan, send_plan
        from pytest_evalstudio.scoring.masking import shown

        send_plan(self.config, WorkerPlan(usage_error=shown(message)))

    def begin_shared(self, plan: WorkerPlan) -> AskingRun:
        """Begin a run whose items workers evaluate, in the controller, and return it.

        Raises:
            pytest.UsageError: if the output folder cannot be used.
        """
        self._shared = plan
        self._shared_times = SharedTimes(workers=len(self.config.getoption("tx", ())))
        self.collected.update(plan.collected)
        self.has_deselected |= plan.deselected
        end_quickly()
        run = self.services.run
        if self.config.getoption("setuponly", False):
            return run.get()
        try:
            self.recorder.claim(plan.inputs)
            if (tracing := self.services.session_tracing) is not None:
                run.begin(structs.replace(run.get(), spans_at=tracing.spans_at))
        except ConfigurationError as exc:
            raise pytest.UsageError(str(exc)) from None
        self._announce(plan.questions)
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if self.announcement and terminal is not None:
            terminal.write_line(shown_line(self.announcement))
        self.recorder.import_ahead()
        return run.get()

    def estimate(self, session: pytest.Session) -> list[str]:
        """Return what the collected items would ask, in words.

        Raises:
            pytest.UsageError: if a model or judge is not available.
        """
        from pytest_evalstudio.plugin.items import EvalItem, RecordedItem
        from pytest_evalstudio.run.estimates import estimate_lines

        items = [item.planned for item in session.items if isinstance(item, EvalItem)]
        others = sum(isinstance(item, RecordedItem) or evaluates(item) for item in session.items)
        try:
            return estimate_lines(self.project, self.services, items, others)
        except ConfigurationError as exc:
            raise usage_error(exc) from None

    def record_crash(self, nodeid: str) -> None:
        """Record an item whose worker died."""
        if self._shared is not None and nodeid in self._shared.items:
            from pytest_evalstudio.plugin.sharing import crash_payload

            self.recorder.receive(crash_payload(nodeid, self._shared.items[nodeid], self._shared.header))

    def finish(self, session: pytest.Session, exit_status: int) -> None:
        """Write the artifacts of optional parts, finish the record, build the report, close the services."""
        with self.services.closing:
            self._write_artifacts()
            if spent := self.services.spent():
                if self.settings.command_line.is_worker:
                    self.config.workeroutput[SPENT] = spent  # type: ignore[attr-defined]
                else:
                    self.recorder.add_judging(spent)
            if self.has_record or self._is_empty_shard(session):
                self._finish_record(session, exit_status)

    def _finish_record(self, session: pytest.Session, exit_status: int) -> None:
        from pytest_evalstudio.plugin.terminal.closing import session_result

        if self._shared_times is not None:
            self._shared_times.end()
        self._session = session
        if session.config.stash[COUNTS].overruled and exit_status == pytest.ExitCode.OK:
            exit_status = session.exitstatus = pytest.ExitCode.TESTS_FAILED
        end = session_result(session, exit_status, deselected=self.leaves_out_cases, collected=self.collected)
        self.recorder.finish(end, lambda: self.services.baseline)
        output = self.recorder.output
        for name, value in output.properties():
            add_suite_property(self.config, f"{PROPERTIES}.{name}", value)
        if output.is_interrupted:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        is_passing = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if is_passing and output.fails(allows_partial=self.settings.allows_partial):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_empty_shard(self, session: pytest.Session) -> bool:
        """Return whether this process runs a shard that got none of the tests."""
        is_worker = self.settings.command_line.is_worker
        return bool(not session.items and self.collected and self.settings.shard) and not (
            is_worker or self.log.refusals or session.config.option.collectonly
        )

    def _write_artifacts(self) -> None:
        for path, write in self.services.at_end.items():
            try:
                write()
            except (EvalStudioError, OSError) as exc:
                self.project.warn(f"{path}: its artifacts could not be written: {exc}", path)

    def summarise(self, reporter: Any) -> None:
        """Write the details of a verbose run, annotations of CI services, and why there is no report."""
        self.failures.show_all(reporter)
        option = self.config.option
        if self.has_record:
            output, terminal = self.recorder.output, SafeTerminal(reporter)
            if output.failure:
                terminal.ensure_newline()
                terminal.section("evalstudio", red=True)
                terminal.write_line(output.failure, red=True)
            elif output.report is not None:
                if option.verbose > 0:
                    from pytest_evalstudio.plugin.terminal.summary import write_details

                    write_details(terminal, output, self.settings.command_line)
                self.ci_output.annotate(reporter)
        if self.log.files and not (
            (self.has_record and self.recorder.has_items)
            or option.collectonly
            or self.config.getoption("setuponly", False)
            or self.settings.estimates
            or self.log.refusals
            or reporter.stats.get("error")
        ):
            files = counted(self.log.files, "file")
            reporter.write_line(
                f"evalstudio: nothing was evaluated: no test case of {files} ran", yellow=True, bold=True
            )

    def write_end(self, reporter: Any) -> None:
        """Write the end of the run, after everything else that pytest writes."""
        if self.has_record:
            from pytest_evalstudio.plugin.terminal.closing import write_end

            exit_status = int(self._session.exitstatus) if self._session is not None else 0
            hint = self._shared_times.hint if self._shared_times is not None else ""
            write_end(
                self.config,
                SafeTerminal(reporter),
                self.recorder.output,
                self.settings,
                exit_status,
                workers=hint,
            )
