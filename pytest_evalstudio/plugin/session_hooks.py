"""Hooks of a pytest session that has evaluations."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.plugin import chunked
from pytest_evalstudio.plugin.collected import cases_of_models
from pytest_evalstudio.plugin.display import SafeTerminal, shown, shown_line, usage_error
from pytest_evalstudio.plugin.keys import SPENT
from pytest_evalstudio.plugin.reports import amend_report, begin_attempt, finish_item
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.session import EvalSession


class SessionHooks:
    """Reacts to what pytest does with the items of a session.

    Attributes:
        evals: services and state of the session.
    """

    def __init__(self, evals: EvalSession) -> None:
        self.evals = evals

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave the items of this shard, numbered as in the whole run."""
        shard = self.evals.settings.shard
        if shard is None:
            return
        for index, item in enumerate(items):
            item.stash[chunked.INDEX] = index
        from pytest_evalstudio.plugin.shards import split

        items[:], others = split(items, shard)
        config.hook.pytest_deselected(items=others)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note the items that are not to run; a comparison does not miss them."""
        from pytest_evalstudio.plugin.items import EvalItem

        cases = [item for item in items if isinstance(item, EvalItem)]
        self.evals.collected.update(cases_of_models(cases))
        self.evals.has_deselected |= bool(cases)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Restore the order of steps, check names, open the models, cut the chunks.

        This runs before other plugins, since under xdist the controller continues as soon as a worker has
        reported its collection. If only single test cases are broken, the others run; pytest alone would
        stop here.
        """
        from pytest_evalstudio.plugin.items import EvalItem
        from pytest_evalstudio.plugin.recorded import RecordedItem, restore_order

        restore_order(session.items)
        items = [item for item in session.items if isinstance(item, EvalItem)]
        others = [item for item in session.items if isinstance(item, RecordedItem)]
        if self.evals.broken_cases and session.testsfailed == self.evals.broken_cases:
            session.config.option.continue_on_collection_errors = True
        try:
            self.evals.prepare(session, items, others)
        except ConfigurationError as exc:
            self.evals.usage_errors.append(str(exc))
        if self.evals.usage_errors:
            self._refuse("\n".join(dict.fromkeys(self.evals.usage_errors)))

    def pytest_report_collectionfinish(self) -> list[str]:
        """Announce a continuation; name under -v the near misses of evaluation files."""
        lines = [shown_line(self.evals.announcement)] if self.evals.announcement else []
        if not self.evals.left_alone or self.evals.config.getoption("verbose", 0) < 1:
            return lines
        return [*lines, shown_line(f"evalstudio: left alone: {', '.join(self.evals.left_alone)}")]

    def _refuse(self, message: str) -> None:
        if hasattr(self.evals.config, "workerinput"):
            from pytest_evalstudio.plugin.plans import WorkerPlan
            from pytest_evalstudio.plugin.scheduling import send_plan

            send_plan(self.evals.config, WorkerPlan(usage_error=shown(message)))
            return
        raise usage_error(message)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Note the event loop of a fixture that may answer for a model."""
        if fixturedef.argname in self.evals.host_fixtures or "eval_model" in request.fixturenames:
            return (yield from self.evals.fixture_loops.watched(fixturedef))
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Release the result of a finished item; plugins that run it again do so within this hook."""
        try:
            return (yield)
        finally:
            finish_item(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin an attempt at an item; what it starts can send spans."""
        if self.evals.sent_plan:
            self.evals.tracing()
        begin_attempt(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
        """Send a finished item's entry with its report, and give each item its share of its chunk's time."""
        report = yield
        amend_report(item, call, report)  # type: ignore[arg-type]
        return report

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> list[str] | None:
        """Explain a failed comparison of two outcomes by the fields that differ."""
        if op == "==" and isinstance(left, Outcome) and isinstance(right, Outcome):
            return [shown_line(line) for line in differences(left, right)]
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Complete the session.

        Write the workflows' artifacts, finish the record, build the report, check the gates, close services.
        """
        with self.evals.services:
            self._write_artifacts()
            if "provider" in self.evals.__dict__ and (spent := self.evals.provider.spent()):
                if hasattr(self.evals.config, "workeroutput"):
                    self.evals.config.workeroutput[SPENT] = spent
                else:
                    self.evals.recorder.add_judging(spent)
            if "recorder" in self.evals.__dict__ or self._is_empty_shard(session):
                self.evals.recorder.finish(session, exitstatus)

    def _is_empty_shard(self, session: pytest.Session) -> bool:
        """Return whether this process runs a shard that got none of the tests."""
        is_worker = hasattr(self.evals.config, "workerinput")
        return bool(not session.items and self.evals.collected and self.evals.settings.shard) and not (
            is_worker or self.evals.usage_errors or session.config.option.collectonly
        )

    def _write_artifacts(self) -> None:
        for path, write in self.evals.at_end.items():
            try:
                write()
            except (EvalStudioError, OSError) as exc:
                self.evals.warn(f"{path}: its artifacts could not be written: {exc}", path)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the details of a verbose run; pytest's short summary and the end of the run follow."""
        self.evals.failure_display.show_all(terminalreporter)
        option = self.evals.config.option
        if "recorder" in self.evals.__dict__:
            self.evals.recorder.summarise(SafeTerminal(terminalreporter), verbose=option.verbose > 0)
        has_report = "recorder" in self.evals.__dict__ and self.evals.recorder.has_items
        if self.evals.collected_files and not (
            has_report
            or option.collectonly
            or self.evals.config.getoption("setuponly", False)
            or self.evals.settings.estimates
            or self.evals.usage_errors
            or terminalreporter.stats.get("error")
        ):
            files = counted(self.evals.collected_files, "file")
            terminalreporter.write_line(
                f"evalstudio: nothing was evaluated: no test case of {files} ran", yellow=True, bold=True
            )


def differences(left: Outcome, right: Outcome) -> list[str]:
    """Return a headline, then a line per field and metric that differs."""
    lines = [f"Outcome({left.status}) == Outcome({right.status})"]
    for field in dataclasses.fields(Outcome):
        first, other = getattr(left, field.name), getattr(right, field.name)
        if first == other:
            continue
        if field.name == "scores":
            lines += _scores(first, other)
        else:
            lines.append(f"{field.name}: {first!r} != {other!r}")
    return lines


def _scores(left: Mapping[str, float | None], right: Mapping[str, float | None]) -> Iterator[str]:
    for metric in dict.fromkeys((*left, *right)):
        if metric not in left or metric not in right:
            yield f"{metric}: only on the {'left' if metric in left else 'right'}"
        elif left[metric] != right[metric]:
            yield f"{metric}: {left[metric]!r} != {right[metric]!r}"
