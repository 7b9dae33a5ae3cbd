"""`--evalstudio-estimate`: what a run would ask, printed in place of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.judging import Judges
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.plugin.checks import checks
from pytest_evalstudio.plugin.confirming import confirmation_estimate
from pytest_evalstudio.plugin.display import SafeTerminal, usage_error
from pytest_evalstudio.plugin.items import EvalItem
from pytest_evalstudio.plugin.recorded import RecordedItem
from pytest_evalstudio.plugin.session import EvalSession
from pytest_evalstudio.scoring.estimate import JudgeFactory, PlannedTask, estimate, lines_of
from pytest_evalstudio.scoring.expectations import unchecked_line


class EstimatedRun:
    """Hooks of a session that is estimated and not run.

    Attributes:
        lines: the estimate in words.
    """

    def __init__(self, evals: EvalSession) -> None:
        self._evals = evals
        self.lines: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Estimate the collected items; neither models nor judges are asked."""
        items = [item for item in session.items if isinstance(item, EvalItem)]
        try:
            planned = list(_planned(self._evals, items))
            self.lines = lines_of(estimate(planned, self._judges))
        except ConfigurationError as exc:
            raise usage_error(exc) from None
        cases = ((plan.task.case, plan.evaluators) for plan in planned)
        if line := unchecked_line(cases, self._evals.registry.evaluators):
            self.lines.append(line)
        self.lines += confirmation_estimate(self._evals, items)
        if calls := self._evals.settings.shrink_calls:
            self.lines.append(f"not included: at most {calls:,} calls that shrink flips")
        others = sum(isinstance(item, RecordedItem) or checks(item) for item in session.items)
        if others:
            self.lines.append(
                f"not included: {others} tests in Python, pairs of an arena or steps of workflows that may"
                " ask models"
            )

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
        terminal = SafeTerminal(terminalreporter)
        if self.lines:
            terminal.section("estimate")
        for line in self.lines:
            terminal.write_line(line)

    def _judges(self, member: JudgeFactory) -> Judges:
        return Judges(
            self._evals.registry,
            cache=AnswerCache(self._evals.settings.cache(), read_only=True),
            refresh=self._evals.settings.refresh,
            member=member,
        )


def _planned(evals: EvalSession, items: Sequence[EvalItem]) -> Iterator[PlannedTask]:
    for item in items:
        if item.task.skip:
            continue
        config = evals.configuration(item.path.parent)
        yield PlannedTask(
            task=item.task,
            session=None if item.task.answered else evals.models.session_of(item.task.model),
            evaluators=evals.plan(config).for_case(item.task.choice, item.task.case.plan),
            config=config,
        )
