"""Starts the evaluation services when a file, fixture, option or report of a session needs them."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.plugins.index import SUFFIXES as PART_SUFFIXES
from pytest_evalstudio.plugin.keys import (
    COUNTS,
    GATE,
    ITEM,
    PAYLOAD,
    PLAN_CHANNEL,
    SCORE,
    SESSION,
    SPENT,
    UNCOLLECTED,
    SessionCounts,
)
from pytest_evalstudio.plugin.late_fixtures import NAMES, PREFIX, late_fixtures

if TYPE_CHECKING:
    from pytest_evalstudio.core.plugins.contrib import FileKind
    from pytest_evalstudio.plugin.session import EvalSession

SUFFIXES = (".json", ".yaml", ".yml", ".csv", ".tsv")
RECORD = "record.jsonl"
"""File that every folder of a report has."""
LISTED_GATES = 20
"""Gates that are met and listed in the summary; more of them are counted."""


class Watch:
    """Hooks that start the evaluation services when a file, fixture or report needs them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._all_fixtures_offered = False
        self._looked_at: re.Pattern[str] | None = None
        self._patterns: list[str] = []
        self._configured: dict[Path, bool] = {}
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
        if file_path.name.lower().endswith(PART_SUFFIXES) and (kind := self._kind_of_part(file_path, parent)):
            from pytest_evalstudio.core.plugins.contrib import loaded

            collector: type[pytest.File] = loaded(kind.collector)
            nodeid, evals = self._nodeid(file_path), eval_session(self.config)
            return collector.from_parent(parent, path=file_path, nodeid=nodeid, evals=evals)
        if not file_path.name.lower().endswith(SUFFIXES):
            return None
        named = parent.session.isinitpath(file_path)
        if not named and not self._is_looked_at(file_path):
            self._warn_of_name(file_path)
            return None
        if not named and not self._resembles_ours(file_path):
            return None
        evals = eval_session(self.config)
        from pytest_evalstudio.plugin.items import EvalFileCollector

        return EvalFileCollector.from_parent(
            parent,
            path=file_path,
            nodeid=self._nodeid(file_path),
            evals=evals,
            named=named,
            configured=named or self.is_configured(file_path.parent),
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what cannot be collected: where the session goes on, its tests are missing in the report."""
        if report.failed:
            self.config.stash.setdefault(UNCOLLECTED, {})[report.nodeid] = None

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Start the services for a test that uses a fixture of ours, or one that looks like it."""
        if not self._all_fixtures_offered and any(
            name.startswith(PREFIX) for name in getattr(item, "fixturenames", ())
        ):
            self._offer_all_fixtures()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Put a finished item into the record; reports of workers carry theirs."""
        payload = getattr(report, PAYLOAD, None)
        if payload is not None and not hasattr(self.config, "workerinput"):
            from pytest_evalstudio.plugin.payload import Payload

            recorder = eval_session(self.config).recorder
            recorder.receive(Payload.received(payload))
            recorder.ci_output.note(report)
            delattr(report, PAYLOAD)  # pytest keeps the report to the end
        self._counts.note(report)
        if gate := getattr(report, GATE, ""):
            self._gates[report.nodeid] = gate, report.failed
        self._logged = report
        try:
            yield
        finally:
            self._logged = None

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

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the results of the gates over scored tables."""
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
            hooks.evals.record_crash(crashitem)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep the items of a chunk on one worker."""
        from pytest_evalstudio.plugin.scheduling import make_scheduler

        return make_scheduler(config, log, partial(eval_session, config))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the judge usage of a worker."""
        spent = getattr(node, "workeroutput", {}).get(SPENT)
        if spent:
            eval_session(self.config).recorder.add_judging(spent)

    def _nodeid(self, path: Path) -> str | None:
        """Return the node id of a file outside the root folder, None to leave the choice to pytest.

        pytest takes such a path relative to the argument that led to it, which may be the same for two files.
        """
        if path.is_relative_to(self.config.rootpath):
            return None
        try:
            return Path(os.path.relpath(path, self.config.rootpath)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()

    def _kind_of_part(self, path: Path, parent: pytest.Collector) -> FileKind | None:
        """Return the kind of an optional part that a file is, or is named as and nothing else."""
        from pytest_evalstudio.core.plugins.contrib import file_kinds, loaded
        from pytest_evalstudio.formats.recognition import Likeness, likeness

        is_named = parent.session.isinitpath(path)
        for kind in file_kinds():
            if not (kind.suffixes and path.name.lower().endswith(kind.suffixes)):
                continue
            recognises: Callable[[Path], bool] = loaded(kind.recognises)
            if recognises(path):
                is_wanted = is_named or self._is_looked_at(path)
            else:
                is_wanted = is_named and likeness(path) is Likeness.NONE
            if is_wanted:
                return kind
        return None

    def _is_looked_at(self, path: Path) -> bool:
        """Return whether the name of a file is one that is looked at while a folder is walked."""
        if self._looked_at is None:
            patterns = self.config.getini("evalstudio_files")
            self._patterns = [pattern for pattern in patterns if "/" in pattern or os.sep in pattern]
            names = "|".join(fnmatch.translate(pattern) for pattern in set(patterns) - set(self._patterns))
            self._looked_at = re.compile(names or r"(?!)", re.IGNORECASE if os.name == "nt" else 0)
        return self._looked_at.match(path.name) is not None or any(map(path.match, self._patterns))

    def _warn_of_name(self, path: Path) -> None:
        """Warn of an evaluation file beside a configuration whose name keeps it from being collected."""
        if path.suffix.lower() in (".csv", ".tsv") or not self.is_configured(path.parent):
            return  # tables of numbers have the columns of a data set too often
        if any((folder / RECORD).is_file() for folder in path.parents):
            return  # a report's own files
        from pytest_evalstudio.core.plugins.contrib import is_artifact
        from pytest_evalstudio.formats.recognition import Likeness, likeness

        if likeness(path) is not Likeness.LIKELY or is_artifact(path):
            return
        patterns = " ".join(self.config.getini("evalstudio_files"))
        name = f"{path.stem}_suite{path.suffix}"
        eval_session(self.config).warn(
            f"{path.name}: not collected: its name matches none of {patterns}; rename it, e.g. to {name}, or"
            f" name it on the command line",
            path,
        )

    def _resembles_ours(self, path: Path) -> bool:
        """Return whether a file deserves to be parsed; a near miss does if it is to be reported."""
        from pytest_evalstudio.formats.recognition import Likeness, likeness

        resemblance = likeness(path)
        if resemblance is Likeness.NONE or (
            resemblance is Likeness.NEAR
            and self.config.getoption("verbose", 0) < 1
            and not self.is_configured(path.parent)
        ):
            return False
        from pytest_evalstudio.core.plugins.contrib import is_artifact

        return not is_artifact(path)

    def is_configured(self, folder: Path) -> bool:
        """Return whether an evalstudio configuration applies to a folder."""
        if self.config.option.evalstudio_config:
            return True
        if folder not in self._configured:
            from pytest_evalstudio.formats.recognition import find_configuration

            self._configured[folder] = find_configuration(folder, self.config.rootpath) is not None
        return self._configured[folder]

    def _offer_all_fixtures(self) -> None:
        """Offer the fixtures of evaluators from elsewhere too."""
        self._all_fixtures_offered = True
        late = self.config.pluginmanager.has_plugin("evalstudio-late-fixtures")
        eval_session(self.config).offer_fixtures(besides=NAMES if late else ())


def eval_session(config: pytest.Config) -> EvalSession:
    """Return the evaluation services of a pytest session, made by the first call."""
    hooks: Any = config.pluginmanager.get_plugin(SESSION)
    if hooks is None:
        from pytest_evalstudio.core.collecting import uncollected

        with uncollected():  # a tenth of the time of the imports
            from pytest_evalstudio.plugin.session import EvalSession
            from pytest_evalstudio.plugin.session_hooks import SessionHooks

        hooks = SessionHooks(EvalSession(config))
        config.pluginmanager.register(hooks, SESSION)
        config.pluginmanager.register(hooks.evals.failure_display, "evalstudio-failure-display")
    return hooks.evals  # type: ignore[no-any-return]
