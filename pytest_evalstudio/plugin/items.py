"""Files as collectors, test cases as items."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.asking.downloads import base_of
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvaluationError, ThresholdMissed
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.files import EvalFile, read
from pytest_evalstudio.formats.kinds import part_kind, read_source
from pytest_evalstudio.formats.lab import TestLab, labels
from pytest_evalstudio.formats.recognition import Likeness, likeness, missing_part
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.plugin.display import CollectionError, clean_failure
from pytest_evalstudio.plugin.figures import MODEL, set_properties
from pytest_evalstudio.plugin.private_api import FixtureItem, TerminalRepr, UsedFixtures
from pytest_evalstudio.record.schema import Attempt
from pytest_evalstudio.scoring.confirming import is_unconfirmed
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.messages import doubts, explain, headline, misses, skip_reason
from pytest_evalstudio.scoring.perturbing.tasks import perturbed_tasks
from pytest_evalstudio.scoring.perturbing.texts import Perturber
from pytest_evalstudio.scoring.perturbing.where import marker_name
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo, item_name, tasks

_MARKS = pytest.StashKey[dict[str, pytest.MarkDecorator]]()
ATTEMPTS = pytest.StashKey[list[Attempt]]()
"""Earlier attempts at an item that a plugin runs again."""

FINISHED = EvalTask(name="", model=ModelInfo(key="", label=""), case=Case(key="", question=""))
"""Task of all items that have finished."""

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.chunked import ItemChunk
    from pytest_evalstudio.plugin.session import EvalSession


def mark_named(config: pytest.Config, category: str) -> pytest.MarkDecorator:
    """Return the registered marker of a category."""
    marks = config.stash.setdefault(_MARKS, {})
    name = marker_name(category)
    if name not in marks:
        config.addinivalue_line("markers", f"{name}: category or domain of test cases")
        marks[name] = pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
    return marks[name]


class EvalFileCollector(pytest.File):
    """A suite, lab or data set.

    Args:
        named: whether the command line names it, so that it must be one.
        configured: whether an evalstudio configuration applies to its folder, so that faults must be seen.

    Attributes:
        obj: for `request.module` of a fixture.
    """

    obj: None = None

    def __init__(self, *, evals: EvalSession, named: bool, configured: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.evals = evals
        self._named = named
        self._is_configured = configured
        self._fixtures: dict[str, UsedFixtures | None] = {}
        self.kind = ""
        self.title = ""
        self.description = ""
        self.add_marker(pytest.mark.evalstudio)

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield an item per test case and model, or per step of a workflow; a broken case is an error."""
        source = self._source()
        if source is None:
            return
        self.evals.collected_files += 1
        if (kind := part_kind(source.data)) is not None:
            step_items: Callable[[EvalFileCollector, Source], Iterator[pytest.Item]] = loaded(kind.items)
            self.kind = kind.name
            yield from step_items(self, source)
            return
        try:
            source.is_remote = "://" in base_of(self.path)
            file = read(source)
        except DataError as exc:
            raise CollectionError(str(exc)) from None
        del source  # the text and the parsed file need more memory than the items
        self.kind = file.kind
        self.title = str(getattr(file.content, "name", "") or "")
        self.description = str(getattr(file.content, "description", "") or "")
        for warning in file.warnings:
            self.evals.warn(warning, self.path)
        for error in file.errors:
            yield BrokenCase.from_parent(
                self, name=visible(safe_identifier(error.pointer)) or "file", error=error, evals=self.evals
            )
        try:
            config = self.evals.configuration(self.path.parent)
            plan = self.evals.plan(config)
            domains = {selected.spec.domain for selected in plan.selected}
            perturber = self.evals.perturber(config)
        except ConfigurationError as exc:
            self.evals.usage_errors.append(str(exc))
            return
        try:
            collected = self._tasks(file, config, plan, perturber)
        except ConfigurationError as exc:
            self._refuse(exc)
            return
        except DataError as exc:
            raise CollectionError(f"{self.nodeid}: {exc}") from None
        for note in plan.notes():
            self.evals.warn(f"{self.nodeid}: {note}", self.path)
        if not collected and not file.errors and self._named and not self.evals.settings.model_names:
            self.evals.warn(f"{self.nodeid}: there is no test case in it", self.path)
        del file
        if all(task.choice is None for task in collected):
            self._mark(self, domains)
        for task in collected:
            # The whole id, as pytest would parse it from its cache: else --lf does not know the item again.
            yield EvalItem.from_parent(self, name=task.name, nodeid=f"{self.nodeid}::{task.name}", task=task)
        for contrib in contribs():
            if contrib.items and getattr(config, contrib.table) is not None:
                more_items: Callable[
                    [EvalFileCollector, Configuration, Sequence[EvalTask]], Iterator[pytest.Item]
                ] = loaded(contrib.items)
                yield from more_items(self, config, collected)

    def fixtures_of(self, item: EvalItem) -> UsedFixtures | None:
        """Return the fixtures of an item; those of one model are the same for all items of the file."""
        if item.host_fixture not in self._fixtures:
            self._fixtures[item.host_fixture] = UsedFixtures.of(item)
        return self._fixtures[item.host_fixture]

    def _source(self) -> Source | None:
        """Return the parsed file, None if it was not named and is not surely an evaluation file."""
        try:
            source = read_source(self.path, self.nodeid)
        except DataError as exc:
            if self._named or (self._is_configured and likeness(self.path) is Likeness.LIKELY):
                raise CollectionError(str(exc)) from None
            self._leave_alone("it cannot be parsed")
            return None
        if self._named:
            return source
        missing = missing_part(source.data)
        if missing:
            self._leave_alone(missing)
        return source if missing == "" else None

    def _leave_alone(self, reason: str) -> None:
        """Report a near miss: visibly below a configuration, else under -v."""
        if self._is_configured:
            self.evals.warn(f"{self.nodeid}: not collected: {reason}", self.path)
        else:
            self.evals.left_alone.append(f"{self.nodeid} ({reason})")

    def _refuse(self, fault: ConfigurationError) -> None:
        """Report that the cases of the file cannot be run.

        A file that was not named is no reason to refuse the whole run.

        Raises:
            CollectionError: for a file of a folder with a configuration.
        """
        if self._named:
            self.evals.usage_errors.append(str(fault))
        elif self._is_configured:
            raise CollectionError(str(fault)) from None
        else:
            self.evals.warn(f"{self.nodeid}: not collected: {fault}", self.path)

    def _tasks(
        self, file: EvalFile, config: Configuration, plan: Plan, perturber: Perturber | None
    ) -> list[EvalTask]:
        evals = self.evals
        models = (
            evals.models.of_suite(file.content, config, self.nodeid)
            if isinstance(file.content, TestSuite)
            else ()
        )
        collected = self._with_perturbed(file, models, config, perturber)
        if isinstance(file.content, TestLab):
            names = labels(file.content.models)
            selected = {
                safe_identifier(model.key)
                for model in file.content.models
                if evals.models.is_wanted(
                    names[model.key], model.key, model.name, safe_identifier(names[model.key])
                )
            }
            collected = [task for task in collected if task.model.key in selected]
        for task in collected:
            if task.choice is not None or task.case.plan is not None:
                try:
                    task.chosen = plan.for_case(task.choice, task.case.plan)
                except ConfigurationError as exc:
                    raise ConfigurationError(f"{self.nodeid}::{task.name}: {exc}") from None
        return collected

    def _with_perturbed(
        self,
        file: EvalFile,
        models: Sequence[ModelInfo],
        config: Configuration,
        perturber: Perturber | None,
    ) -> list[EvalTask]:
        """Return the tasks of the file and, if the run asks for them, their perturbations."""
        base = base_of(self.path)
        if perturber is None:
            return tasks(file, base, models)
        collected = tasks(file, base, models, more=functools.partial(perturbed_tasks, perturber=perturber))
        for line in perturber.notes.lines():
            self.evals.warn(f"{self.nodeid}: {line}", self.path)
        if not isinstance(file.content, TestSuite):
            perturbed_models = dict.fromkeys(task.model for task in collected if not task.answered)
            self.evals.models.answering(perturbed_models, config, self.nodeid)
        return collected

    def _mark(self, node: pytest.Collector | pytest.Item, names: set[str]) -> None:
        for name in sorted(names):
            if marker_name(name):
                node.add_marker(mark_named(self.config, name))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        failure = (
            str(excinfo.value)
            if isinstance(excinfo.value, CollectionError)
            else super().repr_failure(excinfo)
        )
        return clean_failure(failure)


class BrokenCase(pytest.Collector):
    """A test case that cannot be run: one collection error; the rest of its file runs."""

    def __init__(self, *, error: DataError, evals: EvalSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._evals = evals
        self._error = error

    def collect(self) -> Iterator[pytest.Item]:
        self._evals.broken_cases += 1
        raise CollectionError(str(self._error))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        return clean_failure(str(excinfo.value))


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


class EvalItem(FixtureItem):
    """One test case put to one model.

    Errors of host, judge or model are raised in `setup`, missed thresholds in `runtest`, so that pytest
    reports them as E and F.

    Attributes:
        planned: the task as it was collected; FINISHED after the last attempt.
        task: the task of the current attempt.
        reported: the report of the phase before, until the item has finished.
    """

    __slots__ = ("_line", "callspec", "chunk", "host_fixture", "planned", "reported", "task")

    chunk: ItemChunk
    cls = None
    """Class of the test, which pytest asks for where an item has a `callspec`."""
    expected_faults = (EvaluationError, ThresholdMissed, ConfigurationError)

    def __init__(self, *, task: EvalTask, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.task = self.planned = task
        self.reported: pytest.TestReport | None = None
        self._line = max(0, task.case.line - 1)
        # Plugins keep models apart by the parameters of a test; the task is released before the teardown.
        self.callspec = _model_parameter(task.model.label)
        self.host_fixture = "" if task.answered else self.file.evals.models.fixture_of(task.model)
        if self.host_fixture:
            self.add_marker(pytest.mark.usefixtures(self.host_fixture))
        self.use_fixtures(self.file.fixtures_of(self))
        if self.host_fixture:
            self.file.evals.host_fixtures.update(self.fixture_closure)
        if task.skip:
            self.add_marker(pytest.mark.skip(reason=task.skip))
        if task.xfail:
            self.add_marker(pytest.mark.xfail(reason=task.xfail, raises=ThresholdMissed))
        names = set(task.case.categories)
        if task.chosen is not None:
            names |= {selected.spec.domain for selected in task.chosen}
        self.file._mark(self, names)

    @property
    def file(self) -> EvalFileCollector:
        parent = self.parent
        assert isinstance(parent, EvalFileCollector)
        return parent

    def setup(self) -> None:
        if self.task is FINISHED:
            raise EvaluationError(
                "the test case has finished and its texts are released; plugins must run it again within"
                " pytest_runtest_protocol"
            )
        self.set_up_fixtures()
        if self.host_fixture:
            value = self.fixture_value(self.host_fixture)
            self.file.evals.models.bind(self.task.model, value, self.fixture_closure)
        if self.config.getoption(
            "setuponly", False
        ):  # also set by --setup-plan: nothing is executed, so no model is asked
            return
        if attempt := len(self.stash.get(ATTEMPTS, ())):
            self.task = dataclasses.replace(self.planned, attempt=attempt + 1)
        result = self.chunk.result(self)
        baseline = self.file.evals.baseline
        compared = baseline.properties(self, result) if baseline is not None else ()
        set_properties(self, [(result, result.verdicts)], compared)
        if result.not_run:
            raise pytest.skip.Exception(f"not run: {headline(result)}", _use_item_location=True)
        if result.errors:
            raise EvaluationError(explain(result))
        if reason := skip_reason(result):
            raise pytest.skip.Exception(reason, _use_item_location=True)

    def runtest(self) -> None:
        result = self.chunk.result(self)
        if is_unconfirmed(result) and result.confirmation is not None:
            self.add_report_section("call", "evalstudio", f"{result.confirmation.sentence}\n")
        elif misses(result):
            baseline = self.file.evals.baseline
            raise baseline.fault(self, result) if baseline else ThresholdMissed(explain(result))
        for line in doubts(result):
            self.add_report_section("call", "evalstudio", f"{line}\n")

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line, self.name

    def finish(self) -> None:
        """Release the texts of an item that is not run again; pytest keeps the item to the end."""
        self.task = self.planned = FINISHED
        self.reported = None
