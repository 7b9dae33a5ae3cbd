"""Project before its files are collected: settings, registry and configurations; no model is open."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError

from pytest_evalstudio.asking.hosts import model_identity
from pytest_evalstudio.asking.lab_models import LabModel, settings_of_lab_model
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.formats.repeats import max_runs
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.run.settings import Settings
from pytest_evalstudio.scoring.model_provider import ModelProvider, left_out
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import Perturber
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.repeats import stopping_of
from pytest_evalstudio.scoring.tasks import ModelInfo

DEFAULT = ModelTable(name="extractive", host="extractive")
"""The model of suites with documents where no model is configured: embedded, offline."""


class ConfiguredModel(Struct, frozen=True, kw_only=True):
    """A model's table and the configuration that it belongs to."""

    config: Configuration
    table: ModelTable


class ModelTables:
    """Models by their description in the record.

    Args:
        settings: of the session; they select models and trust those of labs.
        registry: returns the plugins of the session, its hosts among them.
    """

    def __init__(self, settings: Settings, registry: Callable[[], Registry]) -> None:
        self._settings = settings
        self._registry = registry
        self._configured: dict[ModelInfo, ConfiguredModel] = {}
        self._infos: dict[tuple[Configuration, str], ModelInfo] = {}
        self._names: list[str] = []

    def of(self, info: ModelInfo) -> ConfiguredModel:
        """Return the table of a model that answers."""
        return self._configured[info]

    def of_suite(self, suite: TestSuite, config: Configuration, location: str) -> list[ModelInfo]:
        """Return the models that answer a suite.

        Raises:
            ConfigurationError: if none is configured, and the suite has no documents for the embedded one.
        """
        tables = config.model
        if not tables:
            if not any(test.documents for test in suite.tests):
                remedy = (
                    "Add a [[model]] with name and host to evalstudio.toml; `evalstudio hosts` lists the"
                    " hosts"
                )
                raise ConfigurationError(f"{location}: no model is configured to answer it. {remedy}")
            tables = [DEFAULT]
        return [self._info(config, table) for table in tables if self.is_selected(table.name)]

    def answer_for(self, infos: Iterable[ModelInfo], config: Configuration, location: str) -> None:
        """Take the models that answer the perturbed cases of a lab or data set.

        They are the configured models of the same names, else the lab's descriptions if the user trusts it.

        Raises:
            ConfigurationError: if there is neither.
        """
        tables = {table.name: table for table in config.model}
        for info in infos:
            table = tables.get(info.label) or self._as_described(info, tables, location)
            self._configured[info] = ConfiguredModel(config=config, table=table)

    def _as_described(self, info: ModelInfo, configured: Iterable[str], location: str) -> ModelTable:
        described = LabModel(
            name=info.label,
            host=str(info.description.get("model_type", "")),
            parameters=info.description.get("model_cfg", {}),
        )
        try:
            settings = settings_of_lab_model(
                described, self._registry(), self._settings.lab_trust, configured=configured
            )
            return ModelTable.model_validate({**settings, "name": info.label})
        except ConfigurationError as exc:
            raise ConfigurationError(f"{location}: perturbed cases have no answers yet: {exc}") from None
        except ValidationError as exc:
            raise ConfigurationError(
                f"{location}: model {info.label!r} of the lab: {exc.errors()[0]['msg']}"
            ) from None

    def is_selected(self, *names: str) -> bool:
        """Return whether the command line selects a model by one of its names, or selects none at all."""
        self._names += [name for name in names if name]
        selection = self._settings.model_names
        return not selection or any(name in selection for name in names)

    def check_names(self) -> None:
        """Refuse a model that the command line names and no collected file has.

        Raises:
            ConfigurationError: for the first of them.
        """
        if not self._names:
            return
        for name in self._settings.model_names:
            if name not in self._names:
                names = dict.fromkeys(self._names)
                raise unknown_name("model", name, names, f"Known here: {', '.join(names)}.")

    def named(self, name: str, config: Configuration) -> ModelInfo:
        """Return a configured model by its name, for tests written in Python.

        Raises:
            ConfigurationError: if there is none.
        """
        tables = {table.name: table for table in config.model or [DEFAULT]}
        if name not in tables:
            raise unknown_name("model", name, tables, "Add it as [[model]] to evalstudio.toml.")
        return self._info(config, tables[name])

    def fixture_of(self, info: ModelInfo) -> str:
        """Return the name of the fixture that answers for a model, "" for a model of another host."""
        table = self._configured[info].table
        return str(table.settings.get("fixture", "")) if table.host == "fixture" else ""

    def program(self, config: Configuration) -> str:
        """Return the folder of a configuration, relative to that of the run, "" for the same."""
        try:
            folder = os.path.relpath(config.folder, self._settings.command_line.root)
        except ValueError:  # another drive
            folder = str(config.folder)
        return "" if folder == os.curdir else Path(folder).as_posix()

    def _info(self, config: Configuration, table: ModelTable) -> ModelInfo:
        if (config, table.name) not in self._infos:
            info = self._described(config, table)
            self._infos[config, table.name] = info
            self._configured[info] = ConfiguredModel(config=config, table=table)
        return self._infos[config, table.name]

    def _described(self, config: Configuration, table: ModelTable) -> ModelInfo:
        """Return a configured model as the record knows it; by its name alone where it cannot be opened."""
        runs_setting = table.runs or config.runs
        runs, stopping = max_runs(runs_setting), stopping_of(runs_setting, f"model {table.name!r}")
        try:
            identity = model_identity(
                table.name, table.settings, self._registry(), program=self.program(config)
            )
        except ConfigurationError:  # raised again when the model is opened, which a mere collection does not
            return ModelInfo(
                key=table.name, label=table.name, runs=runs, stopping=stopping, confirm=table.confirm
            )
        description = {
            "host": identity.host,
            "model_type": identity.host,
            "llm_model_name": str(identity.settings.get("llm_model_name", "")),
            "model_cfg": identity.settings,
            **non_empty(connection=table.connection, description=table.description),
        }
        return ModelInfo(
            key=identity.key,
            label=table.name,
            runs=runs,
            stopping=stopping,
            confirm=table.confirm,
            description=description,
        )


Warn = Callable[[str, Path], None]
"""Issues a warning about a file, each text once."""


@dataclass(slots=True)
class CollectionLog:
    """Counts, faults and fixtures that the collection of files yields besides items.

    Attributes:
        refusals: why the run must not start.
        files: number of files that were read.
        broken_cases: number of test cases that are errors of the collection.
        near_misses: files that resemble evaluation files and were not collected, for -v.
        host_fixtures: names of fixtures that answer for models, and of those that they depend on.
    """

    refusals: list[str] = field(default_factory=list)
    files: int = 0
    broken_cases: int = 0
    near_misses: list[str] = field(default_factory=list)
    host_fixtures: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, eq=False)
class Project:
    """Settings, plugins, evaluators and model tables of a project.

    Attributes:
        settings: options of the session, and configurations by folder.
        warn: issues a warning about a file.
        register: adds the plugins of conftest.py files to a registry.
        provider: returns the provider of models, which knows what evaluators lack here.
        plans: evaluators of the configurations that were asked for, made once.
    """

    settings: Settings
    warn: Warn
    register: Callable[[Registry], None]
    provider: Callable[[], ModelProvider]
    plans: dict[Configuration, Plan] = field(default_factory=dict)

    @functools.cached_property
    def registry(self) -> Registry:
        """Return the plugins of this session, those of its conftest.py files included."""
        registry = Registry()
        self.register(registry)
        return registry

    @functools.cached_property
    def models(self) -> ModelTables:
        """Return the tables of the models that answer."""
        return ModelTables(self.settings, lambda: self.registry)

    def configuration(self, folder: Path) -> Configuration:
        """Return the configuration of a folder."""
        config = self.settings.for_folder(folder)
        for note in config.notes:
            self.warn(note, Path(config.file or config.folder))
        return config

    def plan(self, config: Configuration) -> Plan:
        """Return the evaluators of a configuration, made once."""
        if config not in self.plans:
            lacks = functools.partial(self.provider().lacks, config)
            plan = self.plans[config] = Plan(
                self.registry, config, thresholds=self.settings.thresholds, lacks=lacks
            )
            if plan.left_out:
                self.warn(left_out(plan.left_out, plan.broad_choice), Path(config.file or config.folder))
            for note in plan.notes():
                self.warn(note, Path(config.file or config.folder))
        return self.plans[config]

    def perturber(self, config: Configuration) -> Perturber | None:
        """Return the maker of perturbed cases of a configuration, None if it asks for none.

        Raises:
            ConfigurationError: if a perturbation is malformed or not available.
        """
        specs = config.perturbations
        chains = parse_perturbations(specs.apply, self.registry, config.perturbator, folder=config.folder)
        return Perturber(chains, seed=specs.seed, where=specs.where) if specs.apply.strip() else None
