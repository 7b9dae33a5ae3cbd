"""Files as collectors, test cases as items."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvaluationError, ThresholdMissed
from pytest_evalstudio.engine.asking.downloads import base_of
from pytest_evalstudio.engine.perturbing.tasks import perturbed_tasks
from pytest_evalstudio.engine.perturbing.where import marker_name
from pytest_evalstudio.engine.scoring.identifiers import safe_identifier
from pytest_evalstudio.engine.scoring.messages import doubts, explain, misses
from pytest_evalstudio.engine.scoring.tasks import EvalTask, ModelInfo, tasks
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.files import EvalFile, kind_of, read, read_source
from pytest_evalstudio.formats.lab import TestLab, labels
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.plugin.display import CollectionError, clean_failure
from pytest_evalstudio.plugin.marks import mark_named
from pytest_evalstudio.plugin.private_api import FixtureItem, TerminalRepr

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.chunked import Chunk
    from pytest_evalstudio.plugin.session import EvalSession


class EvalFileCollector(pytest.File):
    """A suite, lab or data set.

    Args:
        named: whether the command line names it, so that it must be one.
    """

    def __init__(self, *, evals: EvalSession, named: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.evals = evals
        self._named = named
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
        if kind_of(source.data) == "workflow":
            from pytest_evalstudio.plugin.workflows import step_items

            self.kind = "workflow"
            yield from step_items(self, source)
            return
        try:
            file = read(source)
        except DataError as exc:
            raise CollectionError(str(exc)) from None
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
            found = self._tasks(file)
        except ConfigurationError as exc:
            self.evals.usage_errors.append(str(exc))
            return
        if not found and not file.errors and self._named and not self.evals.settings.model_names:
            self.evals.warn(f"{self.nodeid}: there is no test case in it", self.path)
        for task in found:
            # The whole id, as pytest would parse it from its cache: else --lf does not know the item again.
            yield EvalItem.from_parent(self, name=task.name, nodeid=f"{self.nodeid}::{task.name}", task=task)

    def _source(self) -> Source | None:
        """What stands in the file, None where it is none of ours."""
        try:
            source = read_source(self.path, self.nodeid)
        except DataError as exc:
            if self._named or _looks_ours(self.path):
                raise CollectionError(str(exc)) from None
            return None
        return source if self._named or _is_ours(source.data, self.path) else None

    def _tasks(self, file: EvalFile) -> list[EvalTask]:
        evals = self.evals
        config = evals.configuration(self.path.parent)
        plan = evals.plan(config)
        models = (
            evals.models.of_suite(file.content, config, self.nodeid)
            if isinstance(file.content, TestSuite)
            else ()
        )
        found = self._with_perturbed(file, models, config)
        if isinstance(file.content, TestLab):
            names = labels(file.content.models)
            wanted = {
                safe_identifier(model.key)
                for model in file.content.models
                if evals.models.is_wanted(
                    names[model.key], model.key, model.name, safe_identifier(names[model.key])
                )
            }
            found = [task for task in found if task.model.key in wanted]
        for task in found:
            if task.choice is not None:
                try:
                    task.chosen = plan.for_case(task.choice)
                except ConfigurationError as exc:
                    raise ConfigurationError(f"{self.nodeid}::{task.name}: {exc}") from None
        if all(task.choice is None for task in found):
            self._mark(self, {selected.spec.domain for selected in plan.selected})
        return found

    def _with_perturbed(
        self, file: EvalFile, models: Sequence[ModelInfo], config: Configuration
    ) -> list[EvalTask]:
        """Return the tasks of the file and, if the run asks for them, their perturbations."""
        perturber = self.evals.perturber(config)
        base = base_of(self.path)
        if perturber is None:
            return tasks(file, base, models)
        found = tasks(file, base, models, more=functools.partial(perturbed_tasks, perturber=perturber))
        for line in perturber.notes.lines():
            self.evals.warn(f"{self.nodeid}: {line}", self.path)
        if not isinstance(file.content, TestSuite):
            asked = dict.fromkeys(task.model for task in found if not task.answered)
            self.evals.models.answering(asked, config, self.nodeid)
        return found

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


class EvalItem(FixtureItem):
    """One test case put to one model.

    Errors of host, judge or model are raised in `setup`, missed thresholds in `runtest`, so that pytest
    reports them as E and F.
    """

    chunk: Chunk
    expected_faults = (EvaluationError, ThresholdMissed, ConfigurationError)

    def __init__(self, *, task: EvalTask, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.task = task
        self.host_fixture = "" if task.answered else self.file.evals.models.fixture_of(task.model)
        if self.host_fixture:
            self.enable_fixtures()
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
        if self.host_fixture:
            self.file.evals.models.bind(self.task.model, self.fixture_value(self.host_fixture))
        if (
            self.config.option.setuponly
        ):  # also set by --setup-plan: nothing is executed, so no model is asked
            return
        result = self.chunk.result(self)
        if result.errors:
            raise EvaluationError(explain(result))
        if not result.applicable:
            reasons = "; ".join(f"{selected.id}: {own.reason}" for selected, own in result.verdicts.items())
            raise pytest.skip.Exception(
                f"no evaluator applies ({reasons or 'none is selected'})", _use_item_location=True
            )

    def runtest(self) -> None:
        result = self.chunk.result(self)
        if misses(result):
            raise ThresholdMissed(explain(result))
        for line in doubts(result):
            self.add_report_section("call", "evalstudio", f"{line}\n")

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


def _is_ours(data: Any, path: Path) -> bool:
    if path.suffix.lower() == ".csv":
        return all("actual_output" in row for row in data["inputs"][:1]) and bool(data["inputs"])
    return bool(kind_of(data))


def _looks_ours(path: Path) -> bool:
    """Whether a file that cannot be parsed has the root keys of one of ours, as far as one can see."""
    if path.suffix.lower() == ".csv":
        return False
    try:
        head = path.read_bytes()
    except OSError:
        return False
    return any(
        f'"{key}"'.encode() in head or f"\n{key}:".encode() in head
        for key in ("tests", "inputs", "dataset", "evalstudio_workflow")
    )
