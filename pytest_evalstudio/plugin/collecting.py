"""Files as collectors of test cases, and what else in them pytest is to know."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_evalstudio.asking.downloads import base_of
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.files import EvalFile, read
from pytest_evalstudio.formats.kinds import EXPECTED, part_kind, read_source, suite_root
from pytest_evalstudio.formats.lab import TestLab, labels
from pytest_evalstudio.formats.recognition import Likeness, is_suite_name, likeness, missing_part
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.plugin.display import CollectionError, clean_failure
from pytest_evalstudio.plugin.items import EvalItem, mark
from pytest_evalstudio.plugin.private_api import TerminalRepr, UsedFixtures
from pytest_evalstudio.run.planning import PlannedFile
from pytest_evalstudio.run.project import CollectionLog, Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.perturbing.tasks import perturbed_tasks
from pytest_evalstudio.scoring.perturbing.texts import Perturber
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo, tasks


class EvalFileCollector(pytest.File):
    """A suite, lab or data set.

    Args:
        project: whose models answer.
        services: for the items of optional parts.
        log: of the collection.
        named: whether the command line names it, so that it must be one.
        configured: whether an evalstudio configuration applies to its folder, so that faults must be seen.

    Attributes:
        obj: for `request.module` of a fixture.
    """

    obj: None = None

    def __init__(
        self,
        *,
        project: Project,
        services: Services,
        log: CollectionLog,
        named: bool,
        configured: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.project = project
        self.services = services
        self.log = log
        self._named = named
        self._is_configured = configured
        self._fixtures: dict[str, UsedFixtures | None] = {}
        self.add_marker(pytest.mark.evalstudio)

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield an item per test case and model, or per step of a workflow; a broken case is an error."""
        source = self._source()
        if source is None:
            return
        self.log.files += 1
        if (kind := part_kind(source.data)) is not None:
            items_of: Callable[[EvalFileCollector, Source], Iterator[pytest.Item]] = loaded(kind.items)
            yield from items_of(self, source)
            return
        file = self._read(source)
        del source  # the text and the parsed file need more memory than the items
        for error in file.errors:
            name = visible(safe_identifier(error.pointer)) or "file"
            yield BrokenCase.from_parent(self, name=name, error=error, log=self.log)
        try:
            config = self.project.configuration(self.path.parent)
            plan = self.project.plan(config)
            perturber = self.project.perturber(config)
        except ConfigurationError as exc:
            self.log.refusals.append(str(exc))
            return
        collected = self._collected(file, config, plan, perturber)
        if collected is None:
            return
        planned = PlannedFile(
            self.nodeid,
            self.path,
            file.kind,
            str(getattr(file.content, "name", "") or ""),
            str(getattr(file.content, "description", "") or ""),
            config,
            plan,
        )
        del file
        if all(task.choice is None for task in collected):
            mark(self, {selected.spec.domain for selected in plan.selected})
        with uncollected():
            items = [self._item(planned, task) for task in collected]
        yield from items
        yield from self._items_of_parts(config, collected)

    def _read(self, source: Source) -> EvalFile:
        try:
            source.is_remote = "://" in base_of(self.path)
            file = read(source)
        except DataError as exc:
            raise CollectionError(str(exc)) from None
        for warning in file.warnings:
            self.project.warn(warning, self.path)
        return file

    def _collected(
        self, file: EvalFile, config: Configuration, plan: Plan, perturber: Perturber | None
    ) -> list[EvalTask] | None:
        """Return the tasks of the file, None where it is left out of the run."""
        try:
            collected = self._tasks(file, config, plan, perturber)
        except ConfigurationError as exc:
            self._refuse(exc)
            return None
        except DataError as exc:
            raise CollectionError(f"{self.nodeid}: {exc}") from None
        for note in plan.notes():
            self.project.warn(f"{self.nodeid}: {note}", self.path)
        if not collected and not file.errors and self._named and not self.project.settings.model_names:
            self.project.warn(f"{self.nodeid}: there is no test case in it", self.path)
        return collected

    def _item(self, file: PlannedFile, task: EvalTask) -> EvalItem:
        host_fixture = "" if task.answered else self.project.models.fixture_of(task.model)
        # The whole id, as pytest would parse it from its cache: else --lf does not know the item again.
        item: EvalItem = EvalItem.from_parent(
            self,
            name=task.name,
            nodeid=f"{self.nodeid}::{task.name}",
            file=file,
            task=task,
            host_fixture=host_fixture,
            fixtures_of=self._fixtures_of,
        )
        if host_fixture:
            self.log.host_fixtures.update(item.fixture_closure)
        return item

    def _items_of_parts(self, config: Configuration, collected: Sequence[EvalTask]) -> Iterator[pytest.Item]:
        """Yield the items of optional parts whose table the configuration has."""
        for contrib in contribs():
            if contrib.items and getattr(config, contrib.table) is not None:
                items: Callable[
                    [EvalFileCollector, Configuration, Sequence[EvalTask]], Iterator[pytest.Item]
                ] = loaded(contrib.items)
                yield from items(self, config, collected)

    def _fixtures_of(self, item: EvalItem, host_fixture: str) -> UsedFixtures | None:
        """Return the fixtures of an item; those of one model are the same for all items of the file."""
        if host_fixture not in self._fixtures:
            self._fixtures[host_fixture] = UsedFixtures.of(item)
        return self._fixtures[host_fixture]

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
        if missing is None and self._is_configured and is_suite_name(self.path):
            # Beside a configuration, such a name is as good as naming the file.
            is_suite = isinstance(source.data, Mapping) and bool(suite_root(source.data))
            missing = "" if is_suite else f"its name is that of a suite, but {EXPECTED}"
        if missing:
            self._leave_alone(missing)
        return source if missing == "" else None

    def _leave_alone(self, reason: str) -> None:
        """Report a near miss: visibly below a configuration, else under -v."""
        if self._is_configured:
            self.project.warn(f"{self.nodeid}: not collected: {reason}", self.path)
        else:
            self.log.near_misses.append(f"{self.nodeid} ({reason})")

    def _refuse(self, fault: ConfigurationError) -> None:
        """Report that the cases of the file cannot be run.

        A file that was not named is no reason to refuse the whole run.

        Raises:
            CollectionError: for a file of a folder with a configuration.
        """
        if self._named:
            self.log.refusals.append(str(fault))
        elif self._is_configured:
            raise CollectionError(str(fault)) from None
        else:
            self.project.warn(f"{self.nodeid}: not collected: {fault}", self.path)

    def _tasks(
        self, file: EvalFile, config: Configuration, plan: Plan, perturber: Perturber | None
    ) -> list[EvalTask]:
        models = (
            self.project.models.of_suite(file.content, config, self.nodeid)
            if isinstance(file.content, TestSuite)
            else ()
        )
        collected = self._with_perturbed(file, models, config, perturber)
        if isinstance(file.content, TestLab):
            names = labels(file.content.models)
            selected = {
                safe_identifier(model.key)
                for model in file.content.models
                if self.project.models.is_selected(
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
            self.project.warn(f"{self.nodeid}: {line}", self.path)
        if not isinstance(file.content, TestSuite):
            perturbed_models = dict.fromkeys(task.model for task in collected if not task.answered)
            self.project.models.answer_for(perturbed_models, config, self.nodeid)
        return collected

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

    def __init__(self, *, error: DataError, log: CollectionLog, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._log = log
        self._error = error

    def collect(self) -> Iterator[pytest.Item]:
        self._log.broken_cases += 1
        raise CollectionError(str(self._error))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        return clean_failure(str(excinfo.value))
