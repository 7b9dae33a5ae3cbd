"""The evaluation services of a pytest session, shared by its eval files."""

from __future__ import annotations

import atexit
import functools
import gc
import threading
import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from pytest_evalstudio.asking.runs import AskingRun, UnfinishedRun
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.plugin import chunked
from pytest_evalstudio.plugin.checks import checks, checks_something
from pytest_evalstudio.plugin.collected import CaseOfModel, cases_of_models
from pytest_evalstudio.plugin.confirming import confirmation_test
from pytest_evalstudio.plugin.continuing import announcement, question_count, run_inputs
from pytest_evalstudio.plugin.display import SafeTerminal, shown, shown_line, usage_error
from pytest_evalstudio.plugin.failure_display import FailureDisplay
from pytest_evalstudio.plugin.keys import FROZEN
from pytest_evalstudio.plugin.late_fixtures import PREFIX
from pytest_evalstudio.plugin.reports import Announced
from pytest_evalstudio.plugin.settings import Settings
from pytest_evalstudio.record.outputs import UNFINISHED
from pytest_evalstudio.scoring.model_provider import ModelProvider, left_out
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import Perturber
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.stats.confirmation import ConfirmationTest

if TYPE_CHECKING:
    from pytest_evalstudio.asking.tracing import Tracing
    from pytest_evalstudio.plugin.baseline import SessionBaseline
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.late_fixtures import FixtureFunction
    from pytest_evalstudio.plugin.loops import FixtureLoops
    from pytest_evalstudio.plugin.models import Models
    from pytest_evalstudio.plugin.pacing import Pacing
    from pytest_evalstudio.plugin.plans import WorkerPlan
    from pytest_evalstudio.plugin.recorded import RecordedItem
    from pytest_evalstudio.plugin.recorder import Recorder
    from pytest_evalstudio.plugin.tracing import SessionTracing
    from pytest_evalstudio.scoring.shrinking.flips import ShrinkLimits
    from pytest_evalstudio.scoring.spans import EvaluatorSpans


MANY_ITEMS = 1_000
"""Items from which on Python's garbage collector does not search what collection made."""


@functools.cache
def end_quickly() -> None:
    """Skip the search for garbage when the process ends: 0.1 s in any run, over a second in a large one."""
    atexit.register(gc.freeze)


class EvalSession:
    """Configuration, registry, models, chunks and record of one pytest session.

    Attributes:
        services: models, judges, caches and the lock of the output folder; closed when the session ends.
        host_fixtures: names of fixtures that answer for models, and of those that they depend on.
        left_alone: near misses of evaluation files, for -v.
        confirmation_test: of regressed items; None where none is asked again.
        sent_plan: whether this worker has sent its plan to the controller, which replies with the run.
        announcement: line about the interrupted run that this one continues, "" for a new one.
        at_end: what optional parts write at the end, by the file whose items have run here.
        collected: file, key and model of the items that a comparison does not miss, though they may not run:
            the deselected ones, and with a baseline all collected ones.
        has_deselected: whether pytest deselected test cases.
        failure_display: of the terminal.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = Settings(config)
        self.services = ExitStack()
        self.usage_errors: list[str] = []
        self.broken_cases = 0
        self.collected_files = 0
        self.left_alone: list[str] = []
        self.host_fixtures: set[str] = set()
        self.announced = Announced()
        self._warned: set[str] = set()
        self.at_end: dict[Path, Callable[[], None]] = {}
        self.collected: set[CaseOfModel] = set()
        self.has_deselected = False
        self._shared: WorkerPlan | None = None
        self._plans: dict[Configuration, Plan] = {}
        self._used: list[ConfiguredEvaluator] = []
        self._asking_run: AskingRun | None = None
        self._run_lock = threading.Lock()
        self.announcement = ""
        self.confirmation_test: ConfirmationTest | None = None
        self.sent_plan = False
        self.failure_display = FailureDisplay(self._close)

    def _close(self, reporter: Any) -> None:
        if "recorder" in self.__dict__:
            self.recorder.close(SafeTerminal(reporter))

    @functools.cached_property
    def registry(self) -> Registry:
        """Return the plugins of this session, those of its conftest.py files included."""
        registry = Registry()
        self.config.hook.pytest_evalstudio_register.call_historic(kwargs={"registry": registry})
        return registry

    def asking_run(self) -> AskingRun:
        """Return the run that asks the models; a new one before any is known."""
        with self._run_lock:
            if self._asking_run is None:
                self._asking_run = self._received_run() or AskingRun.new(
                    replays=self.settings.replay, refreshes=self.settings.refresh
                )
            return self._asking_run

    def _received_run(self) -> AskingRun | None:
        """Return the run that the controller began for the plan of this worker; it has replied by now."""
        if not self.sent_plan:
            return None
        from pytest_evalstudio.plugin.scheduling import receive_run

        return receive_run(self.config)

    def begin_asking(self, run: AskingRun) -> None:
        """Set the run that asks the models."""
        self._asking_run = run

    @functools.cached_property
    def spans(self) -> EvaluatorSpans:
        """Return the times of evaluators that no report has brought to the record yet."""
        from pytest_evalstudio.scoring.spans import EvaluatorSpans

        return EvaluatorSpans()

    @functools.cached_property
    def models(self) -> Models:
        """Return the models that this session asks."""
        from pytest_evalstudio.plugin.models import Models

        return Models(self)

    @functools.cached_property
    def session_tracing(self) -> SessionTracing | None:
        """Return the receiver and sources of spans of this process, None without `[trace]`.

        Raises:
            ConfigurationError: if they cannot be used.
        """
        table = self.settings.session.trace
        if table is None:
            return None
        from pytest_evalstudio.plugin.tracing import SessionTracing

        return SessionTracing(self, table)

    def tracing(self) -> Tracing | None:
        """Return the traces of the questions of this process."""
        return self.session_tracing.tracing if self.session_tracing is not None else None

    @functools.cached_property
    def provider(self) -> ModelProvider:
        """Return the provider of models and judges for the evaluators."""
        provider = ModelProvider(
            cache=self.settings.cache(),
            workers=self.workers,
            registry=self.registry,
            refresh=self.settings.refresh,
            run_id=self.run_id,
            read_only=self.settings.estimates,
        )
        self.services.callback(self._close_provider, provider)
        return provider

    def _close_provider(self, provider: ModelProvider) -> None:
        for warning in provider.warnings():
            self.warn(warning, self.settings.cache())
        provider.close()

    @functools.cached_property
    def shrink_limits(self) -> ShrinkLimits | None:
        """Return the calls that shrinking of flips may take, None if the run does not ask for it."""
        if not self.settings.shrink_calls:
            return None
        from pytest_evalstudio.plugin.shrinking import shrink_limits

        return shrink_limits(self)

    @functools.cached_property
    def fixture_loops(self) -> FixtureLoops:
        """Return the event loops of asynchronous fixtures."""
        from pytest_evalstudio.plugin.loops import FixtureLoops

        return FixtureLoops()

    @functools.cached_property
    def pacing(self) -> Pacing:
        """Return the number of items that are evaluated together."""
        from pytest_evalstudio.plugin.pacing import Pacing

        return Pacing(self.config)

    @functools.cached_property
    def baseline(self) -> SessionBaseline | None:
        """Return the baseline that the run is compared with, None for none.

        Raises:
            ConfigurationError: if the given one cannot be used.
        """
        path = self.settings.baseline()
        if path is None:
            return None
        if not path.exists() and not self.config.option.evalstudio_baseline:
            self.warn(
                f"{path}: there is no baseline yet; save one with `evalstudio baseline save -o {path.name}`",
                path,
            )
            return None
        from pytest_evalstudio.plugin.baseline import SessionBaseline

        return SessionBaseline(path, self.settings)

    @functools.cached_property
    def recorder(self) -> Recorder:
        """Return the writer of record and report, used in one process only."""
        from pytest_evalstudio.plugin.recorder import Recorder

        return Recorder(self)

    @functools.cached_property
    def run_wide(self) -> dict[str, ConfiguredEvaluator]:
        """Return the evaluators of the record's header, as the run's own configuration defines them.

        An evaluator that only other folders use is taken from the first collected item that uses it, which
        is the same one in every worker.
        """
        evaluators = {selected.id: selected for selected in self.plan(self.settings.session).selected}
        for selected in self._used:
            evaluators.setdefault(selected.id, selected)
        return evaluators

    @property
    def workers(self) -> int:
        """Return the number of processes that share the run."""
        return int(getattr(self.config, "workerinput", {}).get("workercount", 1))

    @property
    def run_id(self) -> str:
        """Return what all workers of a run have in common, "" without workers."""
        return str(getattr(self.config, "workerinput", {}).get("testrunuid", ""))

    def configuration(self, folder: Path) -> Configuration:
        """Return the configuration of a folder."""
        config = self.settings.for_folder(folder)
        for note in config.notes:
            self.warn(note, Path(config.file or config.folder))
        return config

    def plan(self, config: Configuration) -> Plan:
        """Return the evaluators of a configuration, made once."""
        if config not in self._plans:
            lacks = functools.partial(self.provider.lacks, config)
            plan = self._plans[config] = Plan(
                self.registry, config, thresholds=self.settings.thresholds, lacks=lacks
            )
            if plan.left_out:
                self.warn(left_out(plan.left_out, plan.broad_choice), Path(config.file or config.folder))
            for note in plan.notes():
                self.warn(note, Path(config.file or config.folder))
        return self._plans[config]

    def perturber(self, config: Configuration) -> Perturber | None:
        """Return the maker of perturbed cases of a configuration, None if it asks for none.

        Raises:
            ConfigurationError: if a perturbation is malformed or not available.
        """
        specs = config.perturbations
        chains = parse_perturbations(specs.apply, self.registry, config.perturbator, folder=config.folder)
        return Perturber(chains, seed=specs.seed, where=specs.where) if specs.apply.strip() else None

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
            return fixture_functions(self)
        except ConfigurationError as exc:
            raise usage_error(exc) from None

    def offer_fixtures(self, *, besides: Collection[str]) -> None:
        """Make the fixtures known to the session, but for those that it knows already."""
        from pytest_evalstudio.plugin.fixtures import fixture_plugin

        functions = {
            name: function for name, function in self.fixture_functions.items() if name not in besides
        }
        self.config.pluginmanager.register(fixture_plugin(functions), "evalstudio-fixtures")

    def mask(self, text: str) -> str:
        """Return a text of pytest without the configured secrets of models and judges."""
        text = self.models.mask(text)
        return self.provider.mask(text) if "provider" in self.__dict__ else text

    def warn(self, text: str, path: Path) -> None:
        """Issue a warning about a file once, for pytest's warnings summary.

        There is no line 0, so that Python quotes no line of the file, which would be neither masked nor made
        visible.
        """
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn_explicit(pytest.PytestWarning(shown(text)), None, filename=str(path), lineno=0)

    def prepare(self, session: pytest.Session, items: list[EvalItem], others: list[RecordedItem]) -> None:
        if self.usage_errors:
            return
        self.models.check_names(items)
        playing = dict.fromkeys(label for other in others for label in other.labels)
        if items or playing:
            self._check_gates(playing)
        if session.config.option.collectonly:
            return
        inputs = run_inputs(self, items, [*others, *filter(checks, session.items)])
        if self.settings.estimates:
            if inputs is not None:
                mark = UnfinishedRun(self.settings.output() / UNFINISHED)
                self.begin_asking(mark.planned(inputs, replays=self.settings.replay))
            return
        if items and self.baseline is not None:
            self.baseline.check(items)
            self.collected.update(cases_of_models(items))
            if self.settings.expects_known_failures:
                self.baseline.expect_known_failures(items)
        if len(items) >= MANY_ITEMS:
            gc.freeze()  # the collector would search all items again and again
            self.config.stash[FROZEN] = True
        if items or others:
            end_quickly()
        self.models.open(items)
        for index, item in enumerate(session.items if self.settings.shard is None else ()):
            item.stash[chunked.INDEX] = index
        chunks, self._used = chunked.assign(self, items)
        self._check_tables(session)
        self.confirmation_test = confirmation_test(self, items)
        for other in others:
            other.open()
        chunks |= {other.nodeid: other.chunk_name for other in others}
        if hasattr(self.config, "workerinput"):
            if chunks or checks_something(session):
                from pytest_evalstudio.plugin.plans import plan_of
                from pytest_evalstudio.plugin.scheduling import send_plan

                collected = self.collected if self.baseline is not None else ()
                plan = plan_of(chunks, items, inputs, collected, deselected=self.leaves_out_cases)
                send_plan(self.config, plan)
                self.sent_plan = True
        elif (items or others or checks_something(session)) and not session.config.getoption(
            "setuponly", False
        ):
            self.recorder.claim(inputs)
            self.tracing()
            self.announce(question_count(items))

    def announce(self, questions: int) -> None:
        """Note the line that announces the continuation of an interrupted run.

        Args:
            questions: number of questions that the run asks at least.
        """
        self.announcement = announcement(self.asking_run(), self.settings.cache(), questions)

    def begin_shared(self, plan: WorkerPlan) -> None:
        """Begin a run whose items workers evaluate, in the controller.

        Raises:
            pytest.UsageError: if the output folder cannot be used.
        """
        self._shared = plan
        self.collected.update(plan.collected)
        self.has_deselected |= plan.deselected
        end_quickly()
        if self.config.getoption("setuponly", False):
            return
        try:
            self.recorder.claim(plan.inputs)
            if self.session_tracing is not None:
                self.begin_asking(structs.replace(self.asking_run(), spans_at=self.session_tracing.spans_at))
        except ConfigurationError as exc:
            raise pytest.UsageError(str(exc)) from None
        self.announce(plan.questions)
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if self.announcement and terminal is not None:
            terminal.write_line(shown_line(self.announcement))
        self.recorder.import_ahead()

    @property
    def leaves_out_cases(self) -> bool:
        """Return whether options or plugins left out test cases; the parts of a shared run are known."""
        return self.settings.selects_cases or (self.has_deselected and self.settings.shard is None)

    def record_crash(self, nodeid: str) -> None:
        """Record an item whose worker died."""
        if self._shared is not None and nodeid in self._shared.items:
            from pytest_evalstudio.plugin.plans import crash_payload

            self.recorder.receive(crash_payload(nodeid, self._shared.items[nodeid], self._shared.header))

    def _check_tables(self, session: pytest.Session) -> None:
        """Refuse tables of evaluators that nothing uses, unless the command line chooses the evaluators.

        Raises:
            ConfigurationError: naming each of them.
        """
        if self.settings.chooses_evaluators:
            return
        fixtures = {name for item in session.items for name in getattr(item, "fixturenames", ())}
        checks = {name.removeprefix(PREFIX) for name in fixtures if name.startswith(PREFIX)}
        messages: list[str] = []
        for config, plan in self._plans.items():
            used = checks.union(selected.id for selected in plan.made())
            if used.issuperset(config.evaluator):
                continue
            from pytest_evalstudio.formats.unused_tables import unused_tables  # most runs have no such table

            messages += unused_tables(config, used)
        if messages:
            raise ConfigurationError("\n".join(messages))

    def _check_gates(self, playing: Collection[str]) -> None:
        from pytest_evalstudio.analysis.gates import check_gate, check_named_gates, parse_gate

        gates = [parse_gate(text) for text in self.settings.gates()]
        has_arena = bool(playing) or any(config.arena is not None for config in self._plans)
        check_named_gates(gates, playing or None, is_configured=has_arena)
        names = {
            selected.id: selected.spec.metrics for plan in self._plans.values() for selected in plan.made()
        }
        for gate in gates:
            check_gate(gate, names)
