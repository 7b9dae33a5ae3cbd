"""All hooks of the plugin; each calls the module that does the work.

This module is imported in every session: it imports the standard library and pytest only, and the first eval
file, fixture or option brings the rest.

A run goes through the hooks in this order: options and configuration, files to items, shard, plan, set-up of
each item (its chunk is evaluated), report, record, end.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.plugins.index import SUFFIXES as PART_SUFFIXES
from pytest_evalstudio.plugin.keys import (
    COUNTS,
    FROZEN,
    GATE,
    ITEM,
    PAYLOAD,
    PLAN_CHANNEL,
    SCORE,
    SCORED,
    SESSION,
    SPENT,
    UNCOLLECTED,
    SessionCounts,
)
from pytest_evalstudio.plugin.late_fixtures import NAMES, evaluates, late_fixtures
from pytest_evalstudio.plugin.options import SUFFIXES, add_markers, add_options, check_ini
from pytest_evalstudio.plugin.plain_imports import import_plainly

if TYPE_CHECKING:
    from pytest_evalstudio.asking.runs import AskingRun
    from pytest_evalstudio.plugin.files import FileSelection
    from pytest_evalstudio.plugin.session import EvalSession
    from pytest_evalstudio.plugin.sharing import WorkerPlan

LISTED_GATES = 20
"""Gates that are met and listed in the summary; more of them are counted."""
_ALL_SUFFIXES = (*SUFFIXES, *PART_SUFFIXES)
_CHECKED = ("shard", "threshold", "gate", "config", "output")
_CHECKED_IF_EMPTY = ("evaluators", "runs", "fail_on")
"""Options whose values are checked before anything is collected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; docs/reference/configuration.md says what each does."""
    import_plainly()
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks with which others add evaluators, hosts and report sections."""
    from pytest_evalstudio.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def _restore_collector(config: pytest.Config) -> None:
    """Let the garbage collector search as before the items were prepared."""
    if FROZEN in config.stash:
        gc.unfreeze()
        gc.set_threshold(*config.stash[FROZEN])


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Replace URLs of suites among the arguments by the files they are stored in."""
    if any("://" in argument for argument in config.args):
        from pytest_evalstudio.plugin.files import localise

        localise(config)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and refuse malformed options before anything runs."""
    # Runs last, after the garbage collection of pytest's own clean-up.
    config.add_cleanup(lambda: _restore_collector(config))
    add_markers(config)
    config.pluginmanager.register(SessionHooks(config), "evalstudio-watch")
    check_ini(config)
    option = config.option
    if option.evalstudio_estimate:
        option.dist, option.tx = "no", []  # xdist's workers would have nothing to do
        config.pluginmanager.register(EstimateHooks(eval_session(config)), "evalstudio-estimate")
    is_set = any(getattr(option, f"evalstudio_{name}") is not None for name in _CHECKED_IF_EMPTY)
    is_set = is_set or any(getattr(option, f"evalstudio_{name}") for name in _CHECKED)
    # What keys of the ini file say together is checked when they are used: not in every run of the project.
    is_overridden = any(text.startswith("evalstudio_") for text in option.override_ini or ())
    contradicts = option.evalstudio_replay and option.evalstudio_refresh
    if is_set or is_overridden or contradicts:
        eval_session(config).check_options()


class SessionHooks:
    """Hooks of every session; they start the evaluation when a file, fixture or report needs it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._all_fixtures_offered = False
        self._files: FileSelection | None = None
        self._logged: pytest.TestReport | None = None
        self._gates: dict[str, tuple[str, bool]] = {}
        self._counts = config.stash.setdefault(COUNTS, SessionCounts())
        if config.getoption("showfixtures", False) or config.getoption("show_fixtures_per_test", False):
            self._offer_all_fixtures()
        else:
            fixtures = late_fixtures(lambda name: eval_session(config).fixture_functions[name])
            config.pluginmanager.register(fixtures, "evalstudio-late-fixtures")

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect files that are named, and those of a folder that are surely evaluation files."""
        if not file_path.name.lower().endswith(_ALL_SUFFIXES):
            return None
        files = self._file_selection()
        named = parent.session.isinitpath(file_path)
        kind = files.part_of(file_path, named=named)
        if kind is None and not files.has(file_path, named=named):
            return None
        session = eval_session(self.config)
        shared: dict[str, Any] = {
            "path": file_path,
            "nodeid": files.nodeid(file_path),
            "project": session.project,
            "services": session.services,
            "log": session.log,
        }
        if kind is not None:
            from pytest_evalstudio.core.plugins.contrib import loaded

            collector: type[pytest.File] = loaded(kind.collector)
            return collector.from_parent(parent, **shared)
        from pytest_evalstudio.plugin.collecting import EvalFileCollector

        is_configured = named or files.is_configured(file_path.parent)
        return EvalFileCollector.from_parent(parent, named=named, configured=is_configured, **shared)

    def _file_selection(self) -> FileSelection:
        if self._files is None:
            from pytest_evalstudio.plugin.files import FileSelection

            self._files = FileSelection(
                self.config, lambda text, path: eval_session(self.config).project.warn(text, path)
            )
        return self._files

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what cannot be collected: where the session goes on, its tests are missing in the report."""
        if report.failed:
            self.config.stash.setdefault(UNCOLLECTED, {})[report.nodeid] = None

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Start the evaluation for a test that uses a fixture of ours, or one that looks like it."""
        if not self._all_fixtures_offered and evaluates(item):
            self._offer_all_fixtures()

    def _offer_all_fixtures(self) -> None:
        """Offer the fixtures of evaluators from elsewhere too."""
        self._all_fixtures_offered = True
        late = self.config.pluginmanager.has_plugin("evalstudio-late-fixtures")
        eval_session(self.config).offer_fixtures(besides=NAMES if late else ())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Put a finished item into the record; reports of workers carry theirs."""
        payload = getattr(report, PAYLOAD, None)
        if payload is not None and not hasattr(self.config, "workerinput"):
            from pytest_evalstudio.run.payload import Payload

            session = eval_session(self.config)
            session.recorder.receive(Payload.received(payload))
            session.ci_output.note(report)
            delattr(report, PAYLOAD)  # pytest keeps the report to the end
        self._counts.note(report)
        if gate := getattr(report, GATE, ""):
            self._gates[report.nodeid] = gate, report.failed
        self._logged = report
        try:
            yield
        finally:
            self._logged = None
            if SCORED in report.__dict__:
                self._counts.note_outcome(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Generator[None, Any, Any]:
        """Add the primary scores to the word that -v shows; the short summary keeps the bare word."""
        status = yield
        score = getattr(report, SCORE, "")
        if not score or not status or report is not self._logged or self.config.getoption("verbose", 0) < 1:
            return status
        category, letter, word = status
        if isinstance(word, tuple):
            return category, letter, (f"{word[0]} ({score})", word[1])
        return category, letter, f"{word} ({score})"

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        """Write the results of the gates over scored tables; where nothing was collected, what could be."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            from pytest_evalstudio.plugin.files import uncollected_line
            from pytest_evalstudio.scoring.masking import shown_line

            if line := uncollected_line(self.config):
                terminalreporter.write_line(f"evalstudio: {shown_line(line)}")
        if self._gates:
            terminalreporter.section("scored tables")
            met = [line for line, failed in self._gates.values() if not failed]
            for line, failed in self._gates.values():
                if failed or len(met) <= LISTED_GATES:
                    terminalreporter.write_line(line, red=failed)
            if len(met) > LISTED_GATES:
                terminalreporter.write_line(f"{len(met)} gates are met")

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self, report: object) -> Generator[None, Any, Any]:
        """Send the reports of our items from a worker in a compact form."""
        data = yield
        if data is not None and hasattr(report, ITEM) and hasattr(self.config, "workerinput"):
            from pytest_evalstudio.plugin.packing import pack

            pack(data)
        return data

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_from_serializable(self, data: dict[str, Any]) -> Generator[None, Any, Any]:
        """Restore a report that a worker sent in its compact form."""
        if ITEM in data:
            from pytest_evalstudio.plugin.packing import unpack

            unpack(data)
        return (yield)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Open the channel on which a worker sends its plan before items run."""
        node.workerinput[PLAN_CHANNEL] = node.gateway.newchannel()

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        """Put an item whose worker died into the record."""
        hooks: Any = self.config.pluginmanager.get_plugin(SESSION)
        if hooks is not None:
            hooks.session.record_crash(crashitem)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep the items of a chunk on one worker."""
        from pytest_evalstudio.plugin.scheduling import make_scheduler

        def begin(plan: WorkerPlan) -> AskingRun:
            return eval_session(config).begin_shared(plan)

        return make_scheduler(config, log, begin)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the judge usage of a worker."""
        spent = getattr(node, "workeroutput", {}).get(SPENT)
        if spent:
            eval_session(self.config).recorder.add_judging(spent)


class EvalHooks:
    """Hooks of a session that has evaluations.

    Attributes:
        session: its state.
    """

    def __init__(self, session: EvalSession) -> None:
        # Imported here, since every session imports this file; and once, since these hooks run per item.
        from pytest_evalstudio.plugin import items, reports

        self.session = session
        self._items = items
        self._reports = reports

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave the items of this shard, numbered as in the whole run."""
        shard = self.session.settings.shard
        if shard is not None:
            items[:], others = self._items.split(items, shard)
            config.hook.pytest_deselected(items=others)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note the items that are not to run."""
        self.session.note_deselected([item for item in items if isinstance(item, self._items.EvalItem)])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Restore the order of steps, and plan the run.

        This runs before other plugins, since under xdist the controller continues as soon as a worker has
        reported its collection. If only single test cases are broken, the others run; pytest alone would
        stop here.
        """
        from pytest_evalstudio.core.errors import ConfigurationError

        self._items.restore_order(session.items)
        items = [item for item in session.items if isinstance(item, self._items.EvalItem)]
        others = [item for item in session.items if isinstance(item, self._items.RecordedItem)]
        log = self.session.log
        if log.broken_cases and session.testsfailed == log.broken_cases:
            session.config.option.continue_on_collection_errors = True
        try:
            self.session.prepare(session, items, others)
        except ConfigurationError as exc:
            log.refusals.append(str(exc))
        if log.refusals:
            self.session.refuse("\n".join(dict.fromkeys(log.refusals)))

    def pytest_report_collectionfinish(self, config: pytest.Config) -> list[str]:
        """Announce a continuation; name under -v the near misses of evaluation files."""
        from pytest_evalstudio.scoring.masking import shown_line

        lines = [shown_line(self.session.announcement)] if self.session.announcement else []
        near_misses = self.session.log.near_misses
        if not near_misses or config.getoption("verbose", 0) < 1:
            return lines
        return [*lines, shown_line(f"evalstudio: left alone: {', '.join(near_misses)}")]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Note the event loop of a fixture that may answer for a model."""
        if fixturedef.argname in self.session.log.host_fixtures or "eval_model" in request.fixturenames:
            return (yield from self.session.services.fixture_loops.watched(fixturedef))
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Release the result of a finished item; plugins that run it again do so within this hook."""
        try:
            return (yield)
        finally:
            self._reports.finish_item(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin an attempt at an item; what it starts can send spans."""
        services = self.session.services
        if services.run.is_shared:
            services.tracing()
        self._reports.begin_attempt(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
        """Send a finished item's entry with its report, and give each item its share of its chunk's time."""
        report = yield
        self._reports.amend_report(item, call, report, self.session.reports)  # type: ignore[arg-type]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> list[str] | None:
        """Explain a failed comparison: of a score by its case, of two outcomes by the fields that differ."""
        from pytest_evalstudio.api.scores import differences, explained
        from pytest_evalstudio.core.outcomes import Outcome
        from pytest_evalstudio.scoring.masking import shown_line

        if op == "==" and isinstance(left, Outcome) and isinstance(right, Outcome):
            return [shown_line(line) for line in differences(left, right)]
        return [shown_line(line) for line in explained(op, left, right)] or None

    def pytest_keyboard_interrupt(self) -> None:
        """Ask nothing more: answers on their way are stored while the report is built."""
        self.session.services.models.drop_waiting()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Complete the record, build the report, check the gates, close the services."""
        self.session.finish(session, exitstatus)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the details of a verbose run; pytest's short summary and the end of the run follow."""
        self.session.summarise(terminalreporter)


class FailureHooks:
    """Hooks around all that pytest writes at the end of a session with evaluations."""

    def __init__(self, session: EvalSession) -> None:
        self._session = session

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Shorten failures while pytest writes them, and write the end of the run."""
        failures = self._session.failures
        failures.shorten(terminalreporter)
        try:
            return (yield)
        finally:
            failures.restore(terminalreporter)
            self._session.write_end(terminalreporter)


class EstimateHooks:
    """Hooks of a session that is estimated and not run."""

    def __init__(self, session: EvalSession) -> None:
        self._session = session
        self._lines: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Estimate the collected items."""
        self._lines = self._session.estimate(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run nothing.

        Raises:
            pytest.Session.Interrupted: if something could not be collected.
        """
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the estimate."""
        from pytest_evalstudio.plugin.display import SafeTerminal

        terminal = SafeTerminal(terminalreporter)
        if self._lines:
            terminal.section("estimate")
        for line in self._lines:
            terminal.write_line(line)


def eval_session(config: pytest.Config) -> EvalSession:
    """Return the state of a pytest session with evaluations, made by the first call."""
    hooks: Any = config.pluginmanager.get_plugin(SESSION)
    if hooks is None:
        from pytest_evalstudio.core.collecting import uncollected

        with uncollected():  # a tenth of the time of the imports
            from pytest_evalstudio.plugin.session import EvalSession

            hooks = EvalHooks(EvalSession(config))
        config.pluginmanager.register(hooks, SESSION)
        config.pluginmanager.register(FailureHooks(hooks.session), "evalstudio-failure-display")
    return hooks.session  # type: ignore[no-any-return]
