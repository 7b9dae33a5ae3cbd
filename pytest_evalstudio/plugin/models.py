"""The models of a pytest session: which are asked, opened before the run, closed after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.engine.asking.answers import AnswerCache
from pytest_evalstudio.engine.asking.hosts import open_model
from pytest_evalstudio.engine.asking.lab_models import LabModel, settings_of_lab_model
from pytest_evalstudio.engine.asking.resolve import ModelSession
from pytest_evalstudio.engine.scoring.tasks import ModelInfo
from pytest_evalstudio.formats.config import Configuration, ModelTable
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.hosts.fixture import FixtureCallable
from pytest_evalstudio.plugin.private_api import fixture_is_visible

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession

DEFAULT = ModelTable(name="extractive", host="extractive")
"""What suites with documents are put to where no model is configured: embedded, offline."""


class Models:
    """Configured models by configuration and name."""

    def __init__(self, evals: EvalSession) -> None:
        self._evals = evals
        self._tables: dict[tuple[int, str], tuple[Configuration, ModelTable, ModelInfo]] = {}
        self._sessions: dict[int, ModelSession] = {}
        self._cache: AnswerCache | None = None
        self._known: list[str] = []
        self._of_files: set[int] = set()
        self._wanted = evals.settings.model_names
        self.asked: dict[str, ModelSession] = {}

    def of_suite(self, suite: TestSuite, config: Configuration, place: str) -> list[ModelInfo]:
        """The models that a suite is put to.

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
                raise ConfigurationError(f"{place}: no model is configured to answer it. {remedy}")
            tables = [DEFAULT]
        return [self._info(config, table) for table in tables if self.is_wanted(table.name)]

    def answering(self, infos: Iterable[ModelInfo], config: Configuration, place: str) -> None:
        """Find the models that answer the perturbed cases of a lab or data set: configured ones of the same
        names, else, where the user trusts the lab, the lab's own descriptions.

        Raises:
            ConfigurationError: if there is neither.
        """
        tables = {table.name: table for table in config.model}
        for info in infos:
            table = tables.get(info.label) or self._as_described(info, tables, place)
            self._tables[id(config), f"{place}[{info.label}]"] = (config, table, info)
            self._of_files.add(id(info))

    def _as_described(self, info: ModelInfo, configured: Iterable[str], place: str) -> ModelTable:
        described = LabModel(
            name=info.label,
            host=str(info.description.get("model_type", "")),
            parameters=info.description.get("model_cfg", {}),
        )
        try:
            settings = settings_of_lab_model(
                described, self._evals.registry, self._evals.settings.lab_trust, configured=configured
            )
            return ModelTable.model_validate({**settings, "name": info.label})
        except ConfigurationError as exc:
            raise ConfigurationError(f"{place}: perturbed cases have no answers yet: {exc}") from None
        except ValidationError as exc:
            raise ConfigurationError(
                f"{place}: model {info.label!r} of the lab: {exc.errors()[0]['msg']}"
            ) from None

    def is_wanted(self, *names: str) -> bool:
        """Whether the command line's choice of models, if any, has one of these names of one model."""
        self._known += [name for name in names if name]
        return not self._wanted or any(name in self._wanted for name in names)

    def check_names(self, items: Iterable[EvalItem]) -> None:
        """Refuse a model that the command line names and no collected file knows.

        Raises:
            ConfigurationError: for the first of them.
        """
        if not self._known:
            return
        for name in self._wanted:
            if name not in self._known:
                raise unknown_name(
                    "model",
                    name,
                    dict.fromkeys(self._known),
                    f"Known here: {', '.join(dict.fromkeys(self._known))}.",
                )

    def open(self, items: Sequence[EvalItem]) -> None:
        """Open the models of these items that are to be asked, and bind fixtures' names.

        Raises:
            ConfigurationError: if one cannot be had.
        """
        for item in items:
            if not item.task.answered:
                self.session_of(item.task.model)
            if item.host_fixture and not fixture_is_visible(item, item.host_fixture):
                fact = (
                    f"there is no fixture {item.host_fixture!r} that {item.path.name} can see; define it in a"
                    " conftest.py"
                )
                raise ConfigurationError(f"model {item.task.model.label!r}: {fact}")

    def session_of(self, info: ModelInfo) -> ModelSession:
        """The opened session of a model."""
        if id(info) not in self._sessions:
            config, table, _ = self._tables_of(info)
            session = self._opened(table, config)
            if id(info) not in self._of_files:
                info.key = session.key
                info.description = described(session)
            self._sessions[id(info)] = session
            if self.asked.setdefault(info.key, session).key != session.key:
                raise ConfigurationError(
                    f"two collected files have a model {info.key!r} and mean different ones; run them one at"
                    " a time"
                )
        return self._sessions[id(info)]

    def named(self, name: str, config: Configuration) -> tuple[ModelInfo, ModelSession]:
        """A configured model by its name, for tests written in Python.

        Raises:
            ConfigurationError: if there is none.
        """
        tables = {table.name: table for table in config.model or [DEFAULT]}
        if name not in tables:
            raise unknown_name("model", name, tables, "Add it as [[model]] to evalstudio.toml.")
        info = self._info(config, tables[name])
        return info, self.session_of(info)

    def fixture_of(self, info: ModelInfo) -> str:
        """The fixture that answers for a model, "" for a model of another host."""
        _, table, _ = self._tables_of(info)
        return str(table.settings.get("fixture", "")) if table.host == "fixture" else ""

    def bind(self, info: ModelInfo, value: object) -> None:
        """Give a fixture's value to the model it answers for.

        Raises:
            ConfigurationError: if it cannot be called.
        """
        host = self.session_of(info).host
        if isinstance(host, FixtureCallable):
            host.bind(value)

    def close(self) -> None:
        """End all connections."""
        for session in self._sessions.values():
            session.close()
        if self._cache is not None:
            for warning in self._cache.warnings:
                self._evals.warn(warning, self._evals.settings.cache())
            self._cache.close()

    def _info(self, config: Configuration, table: ModelTable) -> ModelInfo:
        identity = (id(config), table.name)
        if identity not in self._tables:
            info = ModelInfo(key=table.name, label=table.name, runs=table.runs or config.runs)
            self._tables[identity] = (config, table, info)
        return self._tables[identity][2]

    def _tables_of(self, info: ModelInfo) -> tuple[Configuration, ModelTable, ModelInfo]:
        return next(entry for entry in self._tables.values() if entry[2] is info)

    def _opened(self, table: ModelTable, config: Configuration) -> ModelSession:
        settings = self._evals.settings
        if self._cache is None:
            self._cache = AnswerCache(settings.cache())
        return open_model(
            table.name,
            table.settings,
            self._evals.registry,
            folder=Path(config.folder),
            cache=self._cache,
            workers=self._evals.workers,
            refresh=settings.refresh,
            allow_private_hosts=config.allow_private_hosts,
        )


def described(session: ModelSession) -> dict[str, Any]:
    """An asked model as the record's header shows it."""
    settings = session.description()["settings"]
    return {
        "host": session.spec.id,
        "model_type": session.spec.id,
        "llm_model_name": str(settings.get("llm_model_name", "")),
        "model_cfg": settings,
    }
