"""Test cases and other parts of an evaluation as pytest's items."""

from __future__ import annotations

import dataclasses
import functools
import os
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import (
    ConfigurationError,
    EvalStudioError,
    EvaluationError,
    ThresholdMissed,
)
from pytest_evalstudio.core.progress import ProgressDisplay
from pytest_evalstudio.plugin.figures import MODEL, pass_on_comparison, set_properties
from pytest_evalstudio.plugin.private_api import FixtureItem, UsedFixtures, fixture_is_visible
from pytest_evalstudio.plugin.terminal.progress import progress_of
from pytest_evalstudio.record.schema import Attempt
from pytest_evalstudio.run.chunks import ItemChunk
from pytest_evalstudio.run.models import Models
from pytest_evalstudio.run.payload import Payload
from pytest_evalstudio.run.planning import PlannedFile, PlannedItem
from pytest_evalstudio.run.settings import Shard
from pytest_evalstudio.scoring.confirming import is_unconfirmed
from pytest_evalstudio.scoring.messages import doubts, explain, has_misses, headline, skip_reason
from pytest_evalstudio.scoring.perturbing.where import marker_name
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo, item_name

_MARKS = pytest.StashKey[dict[str, pytest.MarkDecorator]]()
_RUN_INDEX = pytest.StashKey[int]()
"""Index in the run of a test that is no item of a file."""
ATTEMPTS = pytest.StashKey[list[Attempt]]()
"""Earlier attempts at an item that a plugin runs again."""

VSCODE_PLUGIN = "vscode_pytest"
"""Plugin by which the test view of VS Code collects and runs tests."""
FINISHED = EvalTask(name="", model=ModelInfo(key="", label=""), case=Case(key="", question=""))
"""Task of all items that have finished."""


def _mark_named(config: pytest.Config, category: str) -> pytest.MarkDecorator:
    """Return the registered marker of a category."""
    marks = config.stash.setdefault(_MARKS, {})
    name = marker_name(category)
    if name not in marks:
        config.addinivalue_line("markers", f"{name}: category or domain of test cases")
        marks[name] = pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
    return marks[name]


def mark(node: pytest.Collector | pytest.Item, categories: Iterable[str]) -> None:
    """Mark a node by categories or domains, as far as their names can be markers."""
    for category in sorted(categories):
        if marker_name(category):
            node.add_marker(_mark_named(node.config, category))


@dataclasses.dataclass(frozen=True, slots=True)
class ModelParameter:
    """Parameter of an item as plugins read it from the `callspec` of a parametrized test.

    Attributes:
        params: value by name. The name is no identifier, so that no fixture can be called so: pytest would
            pass the value to that fixture.
        id: part of the node id.
    """

    params: Mapping[str, str]
    id: str
    indices: Mapping[str, int] = dataclasses.field(default_factory=lambda: {MODEL: 0})
    marks: tuple[pytest.Mark, ...] = ()
    # pytest groups items by parameters of wider scopes, and asks each parameter for its scope.
    _arg2scope: Mapping[str, object] = dataclasses.field(default_factory=lambda: {MODEL: None})


@functools.lru_cache(maxsize=1024)
def _model_parameter(label: str) -> ModelParameter:
    return ModelParameter(params={MODEL: label}, id=item_name(label))


@functools.lru_cache(maxsize=1)
def _is_of_vs_code(config: pytest.Config) -> bool:
    return bool(config.pluginmanager.hasplugin(VSCODE_PLUGIN))


class EvalItem(FixtureItem):
    """One test case put to one model.

    Errors of host, judge or model are raised in `setup`, missed thresholds in `runtest`, so that pytest
    reports them as E and F.

    Attributes:
        planned: as it was collected; its task is FINISHED after the last attempt.
        task: the task of the current attempt.
        reported: the report of the phase before, until the item has finished.
        run_index: in the run. Not in the stash: its dictionary would be twice as large.
    """

    __slots__ = ("_line", "callspec", "chunk", "planned", "reported", "run_index", "task")

    chunk: ItemChunk
    run_index: int
    cls = None
    """Class of the test, which pytest asks for where an item has a `callspec`."""
    expected_faults = (EvaluationError, ThresholdMissed, ConfigurationError)

    def __init__(
        self,
        *,
        file: PlannedFile,
        task: EvalTask,
        host_fixture: str,
        fixtures_of: Callable[[EvalItem, str], UsedFixtures | None],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.task = task
        self.reported: pytest.TestReport | None = None
        self._line = max(0, task.case.line - 1)
        # Plugins keep models apart by the parameters of a test; the task is released before the teardown.
        # The plugin of VS Code takes an item with parameters for one of a Python file: its discovery of the
        # whole workspace would end with an IndexError.
        if not _is_of_vs_code(self.config):
            self.callspec = _model_parameter(task.model.label)
        if host_fixture:
            self.add_marker(pytest.mark.usefixtures(host_fixture))
        self.use_fixtures(fixtures_of(self, host_fixture))
        self.planned = PlannedItem(
            self.nodeid,
            file,
            task,
            host_fixture=host_fixture,
            is_isolated=self.fixtures is not None and self.fixtures.is_set_up_per_item,
        )
        if task.skip:
            self.add_marker(pytest.mark.skip(reason=task.skip))
        if task.xfail:
            self.add_marker(pytest.mark.xfail(reason=task.xfail, raises=ThresholdMissed))
        domains = {selected.spec.domain for selected in task.chosen} if task.chosen is not None else set()
        mark(self, {*task.case.categories, *domains})

    @property
    def has_finished(self) -> bool:
        """Return whether its texts are released."""
        return self.task is FINISHED

    def open(self, models: Models) -> None:
        """Open its model if it is to be asked.

        Raises:
            ConfigurationError: if the model, or the fixture that answers for it, is not available.
        """
        if not self.task.answered:
            models.session_of(self.task.model)
        host_fixture = self.planned.host_fixture
        if host_fixture and not fixture_is_visible(self, host_fixture):
            fact = (
                f"there is no fixture {host_fixture!r} that {self.path.name} can see; define it in a"
                " conftest.py"
            )
            raise ConfigurationError(f"model {self.task.model.label!r}: {fact}")

    def setup(self) -> None:
        if self.has_finished:
            raise EvaluationError(
                "the test case has finished and its texts are released; plugins must run it again within"
                " pytest_runtest_protocol"
            )
        self.set_up_fixtures()
        if host_fixture := self.planned.host_fixture:
            value = self.fixture_value(host_fixture)
            models = self.chunk.evaluation.services.models
            models.bind(self.task.model, value, self.fixture_closure)
        if self.config.getoption(
            "setuponly", False
        ):  # also set by --setup-plan: nothing is executed, so no model is asked
            return
        if attempt := len(self.stash.get(ATTEMPTS, ())):
            self.task = dataclasses.replace(self.planned.task, attempt=attempt + 1)
        result = self._result()
        baseline = self.chunk.evaluation.services.baseline
        compared = baseline.properties(self.planned, result) if baseline is not None else ()
        set_properties(self, [(result, result.verdicts)], compared)
        if result.not_run:
            raise pytest.skip.Exception(f"not run: {headline(result)}", _use_item_location=True)
        if result.errors:
            raise _explained(EvaluationError, result)
        if reason := skip_reason(result):
            raise pytest.skip.Exception(reason, _use_item_location=True)

    def runtest(self) -> None:
        result = self._result()
        if is_unconfirmed(result) and result.confirmation is not None:
            from pytest_evalstudio.scoring.confirmation import confirmation_sentence

            self.add_report_section("call", "evalstudio", f"{confirmation_sentence(result.confirmation)}\n")
        elif has_misses(result):
            pass_on_comparison(self.config, result)
            baseline = self.chunk.evaluation.services.baseline
            raise baseline.fault(self.planned, result) if baseline else _explained(ThresholdMissed, result)
        for line in doubts(result):
            self.add_report_section("call", "evalstudio", f"{line}\n")

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line, self.name

    def finished_result(self) -> Result | None:
        """Return the result of the current attempt, None if it has not been evaluated."""
        return self.chunk.finished(self.planned, self.task) if hasattr(self, "chunk") else None

    def finish(self) -> None:
        """Release the texts of an item that is not run again; pytest keeps the item to the end."""
        if self.has_finished:
            return
        if hasattr(self, "chunk"):
            self.chunk.release(self.planned)
        self.task = FINISHED
        self.planned = dataclasses.replace(self.planned, task=FINISHED)
        self.reported = None

    def has_timeout(self) -> bool:
        """Return whether pytest-timeout ends the item if it takes too long."""
        return _has_timeout(self)

    def progress(self, beginning: str) -> ProgressDisplay:
        """Return the display of what the item waits for."""
        return progress_of(self, self.task.model.label, beginning)

    def _result(self) -> Result:
        return self.chunk.result(self.planned, self.task, self)


def _has_timeout(item: pytest.Item) -> bool:
    """Return whether pytest-timeout ends an item that takes too long."""
    config = item.config
    if not config.pluginmanager.hasplugin("timeout"):
        return False
    return item.get_closest_marker("timeout") is not None or _timeout_of_session(config)


def _timeout_of_session(config: pytest.Config) -> bool:
    """Return whether pytest-timeout has a limit for every item."""
    try:
        limits = (config.getoption("timeout", None), config.getini("timeout"))
    except (ValueError, KeyError):
        return False
    return any(float(limit or 0) > 0 for limit in (*limits, os.environ.get("PYTEST_TIMEOUT")))


def _explained(kind: type[EvaluationError | ThresholdMissed], result: Result) -> EvalStudioError:
    """Return the exception of an item, whose message is masked part by part."""
    fault = kind(explain(result))
    fault.is_masked = True
    return fault


class RecordedItem(FixtureItem):
    """An item that writes its own entry of the record."""

    labels: tuple[str, ...] = ()
    """Labels of the models that it compares."""
    place_in_file: int | None = None
    """Place among the items of its file where later ones depend on earlier ones; None where none does."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_fixtures(UsedFixtures.of(self))

    def setup(self) -> None:
        self.set_up_fixtures()

    @property
    def family(self) -> str | None:
        """Return the name of the items that are in one shard with it; None for an item of every shard."""
        return None

    @property
    @abstractmethod
    def chunk_name(self) -> str:
        """Return the name of the chunk that stays on one xdist worker."""

    @abstractmethod
    def payload(self, report: pytest.TestReport) -> Payload:
        """Return the record's entry, personal data and secrets masked."""

    def open(self) -> None:
        """Open before the run what the item needs.

        Raises:
            ConfigurationError: if it is not available.
        """


def restore_order(items: list[pytest.Item]) -> None:
    """Put items that depend on earlier ones of their file in the order of the file.

    Plugins that shuffle or reverse tests move them otherwise. They take the places that the items of their
    file have; all other items stay where they are.

    Args:
        items: of the session; changed in place.
    """
    by_file: dict[Path, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        if isinstance(item, RecordedItem) and item.place_in_file is not None:
            by_file[item.path].append(position)
    for positions in by_file.values():
        in_order = sorted((items[position] for position in positions), key=_place_in_file)
        for position, item in zip(positions, in_order, strict=True):
            items[position] = item


def _place_in_file(item: pytest.Item) -> int:
    return getattr(item, "place_in_file", None) or 0


def set_run_index(item: pytest.Item, index: int) -> None:
    """Set the index of a test in the run."""
    if isinstance(item, EvalItem):
        item.run_index = index
    else:
        item.stash[_RUN_INDEX] = index


def run_index_of(item: pytest.Item) -> int:
    """Return the index of a test in the run."""
    if isinstance(item, EvalItem):
        return item.run_index
    # A test that asks for its first fixture by name starts the services after items were numbered.
    return item.stash[_RUN_INDEX] if _RUN_INDEX in item.stash else item.session.items.index(item)


def split(items: Sequence[pytest.Item], shard: Shard) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the items of a shard, and those of the others; other tests are in every shard.

    Items are numbered as in the whole run.
    """
    items_of_shard: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for index, item in enumerate(items):
        set_run_index(item, index)
        family = _family_of(item)
        (items_of_shard if family is None or shard.has(family) else others).append(item)
    return items_of_shard, others


def _family_of(item: pytest.Item) -> str | None:
    if isinstance(item, RecordedItem):
        return item.family
    return item.planned.family if isinstance(item, EvalItem) else None
