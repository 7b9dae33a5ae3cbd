"""Gates over scored tables: files `*_scores.toml` and `*_scores.json`, an item per gate and model."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.contrib.tables.gates.access import TableAccess
from pytest_evalstudio.contrib.tables.gates.checks import CheckResult, GateCheck, GatedTable
from pytest_evalstudio.contrib.tables.gates.messages import explanation, headline
from pytest_evalstudio.contrib.tables.scores_file import read_scores_file
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvaluationError, ThresholdMissed
from pytest_evalstudio.plugin.display import CollectionError, clean_failure, clean_report
from pytest_evalstudio.plugin.keys import GATE
from pytest_evalstudio.plugin.private_api import FixtureItem, TerminalRepr, UsedFixtures
from pytest_evalstudio.scoring.masking import shown_line

if TYPE_CHECKING:
    from pytest_evalstudio.run.project import CollectionLog, Project
    from pytest_evalstudio.run.services import Services

PREFIX = "evalstudio"
REPORTS = "evalstudio-gate-reports"


class ScoresFileCollector(pytest.File):
    """A file with gates over a scored table.

    Attributes:
        obj: for `request.module` of a fixture.
    """

    obj: None = None

    def __init__(self, *, project: Project, services: Services, log: CollectionLog, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._project = project
        self._log = log
        self.add_marker(pytest.mark.evalstudio)
        self.add_marker(pytest.mark.scores)

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each gate and model; a table that cannot be used is a usage error."""
        try:
            file = read_scores_file(self.path, self.nodeid)
        except DataError as exc:
            raise CollectionError(str(exc)) from None
        try:
            access = TableAccess.of(self._project.configuration(self.path.parent))
            gated = GatedTable(
                file, self.path.parent, access=access, is_wanted=self._project.models.is_selected
            )
        except (ConfigurationError, DataError) as exc:
            self._log.refusals.append(f"{self.nodeid}: {exc}")
            return
        plugins = self.config.pluginmanager
        if not plugins.hasplugin(REPORTS):
            plugins.register(GateReports(), REPORTS)
        for check in gated.checks:
            yield ScoresItem.from_parent(
                self, name=check.name, nodeid=f"{self.nodeid}::{check.name}", gated=gated, check=check
            )

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, CollectionError):
            return clean_failure(str(excinfo.value))
        return clean_failure(super().repr_failure(excinfo))


class ScoresItem(FixtureItem):
    """A gate for one model."""

    def __init__(self, *, gated: GatedTable, check: GateCheck, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._gated = gated
        self._check = check
        self.summary_line = ""
        self.use_fixtures(UsedFixtures.of(self))

    def setup(self) -> None:
        self.set_up_fixtures()

    def runtest(self) -> None:
        check = self._check
        result = self._gated.result(check)
        self.summary_line = shown_line(headline(check, result))
        self._set_properties(result)
        if result.met:
            return
        baseline = self._gated.file.baseline
        if check.earlier and baseline is not None and baseline.fail_on == "none":
            self.add_report_section("call", PREFIX, f"{self.summary_line}\n")
            return
        message = explanation(self._gated, check, result)
        raise (EvaluationError if result.figure.value is None else ThresholdMissed)(message)

    def _set_properties(self, result: CheckResult) -> None:
        """Set the properties that JUnit files and other plugins show."""
        check, figure = self._check, result.figure
        pairs: list[tuple[str, object]] = [
            ("gate", check.gate.text if not check.earlier else f"{check.term} not worse"),
            ("model", shown_line(check.subject)),
            ("value", figure.value),
            ("n", figure.n),
        ]
        if figure.interval is not None:
            pairs += [("low", figure.interval[0]), ("high", figure.interval[1])]
        if result.change is not None:
            pairs += [("baseline", result.change.base.value), ("difference", result.change.difference)]
        properties = [(f"{PREFIX}.{name}", value) for name, value in pairs if value is not None]
        # The item may run again, e.g. by a plugin for reruns; it must not get the properties twice.
        others = [pair for pair in self.user_properties if not pair[0].startswith(f"{PREFIX}.")]
        self.user_properties[:] = [*others, *properties]

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, ThresholdMissed | EvaluationError):
            return clean_failure(str(excinfo.value))
        if isinstance(excinfo.value, DataError | ConfigurationError):
            return clean_failure(f"{self.nodeid.partition('::')[0]}: {excinfo.value}")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


class GateReports:
    """Attaches the line of the summary to the report of a gate, and makes the report safe to show."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Amend the report of a gate."""
        report = yield
        if isinstance(item, ScoresItem):
            clean_report(report)
            if report.when == "call" and item.summary_line:
                setattr(report, GATE, item.summary_line)
        return report
