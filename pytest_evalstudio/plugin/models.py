"""The models of a pytest session: opened before the run, closed after it."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from pydantic import ValidationError

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import model_identity, open_model
from pytest_evalstudio.asking.lab_models import LabModel, settings_of_lab_model
from pytest_evalstudio.asking.purse import SharedPurse
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.spending import UNHELD, model_budget, unpriced_limit
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.formats.repeats import max_runs
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.hosts.fixture import FixtureCallable
from pytest_evalstudio.judges.budget import Budget, LocalPurse, Purse
from pytest_evalstudio.plugin.loops import on_loop
from pytest_evalstudio.plugin.pacing import AskedAhead
from pytest_evalstudio.plugin.private_api import fixture_is_visible
from pytest_evalstudio.scoring.repeats import stopping_of
from pytest_evalstudio.scoring.tasks import ModelInfo

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession

DEFAULT = ModelTable(name="extractive", host="extractive")
"""The model of suites with documents where no model is configured: embedded, offline."""


class _Configured(Struct, frozen=True, kw_only=True):
    """A model's table and the configuration that it belongs to."""

    config: Configuration
    table: ModelTable


class Models:
    """Models of a session, opened when they are needed and closed with the session's services."""

    def __init__(self, evals: EvalSession) -> None:
        self._evals = evals
        self._configured: dict[ModelInfo, _Configured] = {}
        self._infos: dict[tuple[Configuration, str], ModelInfo] = {}
        self._sessions: dict[ModelInfo, ModelSession] = {}
        self._known: list[str] = []
        self._wanted = evals.settings.model_names
        self.asked: dict[str, AskedAhead] = {}
        self.with_effects: set[str] = set()
        """Keys of models whose answers show tools, a state or a session."""

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
        return [self._info(config, table) for table in tables if self.is_wanted(table.name)]

    def answering(self, infos: Iterable[ModelInfo], config: Configuration, location: str) -> None:
        """Find the models that answer the perturbed cases of a lab or data set.

        They are the configured models of the same names, else the lab's descriptions if the user trusts it.

        Raises:
            ConfigurationError: if there is neither.
        """
        tables = {table.name: table for table in config.model}
        for info in infos:
            table = tables.get(info.label) or self._as_described(info, tables, location)
            self._configured[info] = _Configured(config=config, table=table)

    def _as_described(self, info: ModelInfo, configured: Iterable[str], location: str) -> ModelTable:
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
            raise ConfigurationError(f"{location}: perturbed cases have no answers yet: {exc}") from None
        except ValidationError as exc:
            raise ConfigurationError(
                f"{location}: model {info.label!r} of the lab: {exc.errors()[0]['msg']}"
            ) from None

    def is_wanted(self, *names: str) -> bool:
        """Return whether the command line selects a model by one of its names, or selects none at all."""
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
            ConfigurationError: if one is not available.
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
        """Return the session of a model, opened by the first call.

        Raises:
            ConfigurationError: if the model cannot be opened, or another one has its key.
        """
        if info not in self._sessions:
            configured = self._configured[info]
            session = self._opened(configured.table, configured.config)
            path = Path(configured.config.file or configured.config.folder)
            self._evals.services.callback(self._close, session, path)
            self._sessions[info] = session
            if self.asked.setdefault(info.key, AskedAhead(session)).key != session.key:
                raise ConfigurationError(
                    f"two collected files have a model {info.key!r} and mean different ones; run them one at"
                    " a time"
                )
        return self._sessions[info]

    def mask(self, text: str) -> str:
        """Return a text without the secrets of the open models."""
        for session in self._sessions.values():
            text = session.mask_output(text)
        return text

    def _close(self, session: ModelSession, path: Path) -> None:
        """Close a model, and warn of what its host noted."""
        for note in dict.fromkeys(session.notes):
            self._evals.warn(note, path)
        session.close()

    def named(self, name: str, config: Configuration) -> tuple[ModelInfo, AskedAhead]:
        """Return a configured model by its name, for tests written in Python.

        Raises:
            ConfigurationError: if there is none.
        """
        tables = {table.name: table for table in config.model or [DEFAULT]}
        if name not in tables:
            raise unknown_name("model", name, tables, "Add it as [[model]] to evalstudio.toml.")
        info = self._info(config, tables[name])
        self.session_of(info)
        return info, self.asked[info.key]

    def fixture_of(self, info: ModelInfo) -> str:
        """Return the name of the fixture that answers for a model, "" for a model of another host."""
        table = self._configured[info].table
        return str(table.settings.get("fixture", "")) if table.host == "fixture" else ""

    def bind(self, info: ModelInfo, value: object, closure: Iterable[str]) -> None:
        """Give a fixture's value to the model it answers for.

        Args:
            closure: names of the fixtures that the fixture depends on.

        Raises:
            ConfigurationError: if it cannot be called.
        """
        host = self.session_of(info).host
        if isinstance(host, FixtureCallable):
            loop = self._evals.fixture_loops.loop_of(host.fixture, closure)
            self.asked[info.key].loop = loop
            host.bind(value if loop is None else on_loop(value, loop))

    def common_purse(self, name: str, calls: int) -> tuple[int, Purse]:
        """Return the calls that this process may take, and the purse that counts them.

        Args:
            name: of the purse.
            calls: of all workers of the run.
        """
        if self._evals.workers <= 1:
            return calls, LocalPurse()
        if self._evals.run_id and self._cache.store.is_writable:
            return calls, SharedPurse(self._cache.store, f"{self._evals.run_id} {name}")
        return calls // self._evals.workers, LocalPurse()

    @functools.cached_property
    def _cache(self) -> AnswerCache:
        return self._evals.services.enter_context(
            _warned_of(
                AnswerCache(self._evals.settings.cache(), read_only=self._evals.settings.estimates),
                self._evals,
            )
        )

    def _info(self, config: Configuration, table: ModelTable) -> ModelInfo:
        if (config, table.name) not in self._infos:
            info = self._described(config, table)
            self._infos[config, table.name] = info
            self._configured[info] = _Configured(config=config, table=table)
        return self._infos[config, table.name]

    def _described(self, config: Configuration, table: ModelTable) -> ModelInfo:
        """Return a configured model as the record knows it; by its name alone where it cannot be opened."""
        runs_setting = table.runs or config.runs
        runs, stopping = max_runs(runs_setting), stopping_of(runs_setting, f"model {table.name!r}")
        try:
            identity = model_identity(
                table.name, table.settings, self._evals.registry, program=self._program(config)
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
            **({"connection": table.connection} if table.connection else {}),
            **({"description": table.description} if table.description else {}),
        }
        return ModelInfo(
            key=identity.key,
            label=table.name,
            runs=runs,
            stopping=stopping,
            confirm=table.confirm,
            description=description,
        )

    def _program(self, config: Configuration) -> str:
        """Return the folder of a configuration, relative to that of the run, "" for the same."""
        try:
            folder = os.path.relpath(config.folder, self._evals.config.rootpath)
        except ValueError:  # another drive
            folder = str(config.folder)
        return "" if folder == os.curdir else Path(folder).as_posix()

    def _opened(self, table: ModelTable, config: Configuration) -> ModelSession:
        session = open_model(
            table.name,
            table.settings,
            self._evals.registry,
            folder=Path(config.folder),
            cache=self._cache,
            workers=self._evals.workers,
            run=self._evals.asking_run,
            allow_private_hosts=config.allow_private_hosts,
            budget=self._budget(table, config),
            allow_absent=True,
            max_text_chars=config.max_text_chars,
            thoughts=config.thoughts,
            tracing=self._evals.tracing,
            program=self._program(config),
        )
        limits = {}
        if table.budget is not None and table.budget.cost_usd is not None:
            limits[f"budget.cost_usd = {table.budget.cost_usd:g}"] = UNHELD
        if config.max_cost is not None:
            limits[f"max_cost = {config.max_cost:g}"] = "the cost of the run is not known"
        model = str(table.settings.get("llm_model_name") or table.name)
        for limit, consequence in limits.items():
            if fact := unpriced_limit(session.host, session.prices, model, limit, consequence):
                self._evals.warn(f"model {table.name!r}: {fact}", Path(config.file or config.folder))
        return session

    def _budget(self, table: ModelTable, config: Configuration) -> Budget | None:
        if table.budget is None:
            return None
        return model_budget(
            table.budget,
            f"{config.folder} {table.name}",
            store=self._cache.store,
            run_id=self._evals.run_id,
            workers=self._evals.workers,
        )


@contextmanager
def _warned_of(cache: AnswerCache, evals: EvalSession) -> Iterator[AnswerCache]:
    """Close a cache at the end and warn of its faults."""
    try:
        yield cache
    finally:
        for warning in cache.warnings:
            evals.warn(warning, evals.settings.cache())
        cache.close()
