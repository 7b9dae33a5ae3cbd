"""From the `[judge]` table of the configuration to a judge that can be asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import check_model, open_model
from pytest_evalstudio.asking.purse import SharedPurse
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.runs import AskingRun, CacheMode, fixed_run
from pytest_evalstudio.asking.spending import UNHELD, unpriced_limit
from pytest_evalstudio.core.attachments import IMAGE_TYPES
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.errors import ConfigurationError, ResourceMissing, unknown_name
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.judging import Example
from pytest_evalstudio.core.loops import LoopThread
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.judge_examples import JudgeExamples
from pytest_evalstudio.formats.judge_table import JudgeMember, JudgeTable
from pytest_evalstudio.formats.model_tables import connection_settings
from pytest_evalstudio.judges.budget import Budget, BudgetLimits
from pytest_evalstudio.judges.panel import JudgeModel, Panel
from pytest_evalstudio.judges.prompts import Prompts

_REMEDY = (
    'add a table [judge] to evalstudio.toml, e.g. host = "openai_compatible", url ='
    ' "http://localhost:11434/v1", llm_model_name = "llama3.1"; or model = "NAME" of a [[model]]'
)
CONFIGURED_WRITER = "judge"
"""Name of the configuration's `[judge]` as a writer."""
STEADY: Mapping[str, Any] = {"temperature": 0.0, "seed": 0}
"""Parameters of a judge's host where it has them and the configuration does not set them."""


@dataclasses.dataclass(slots=True)
class Judges:
    """The judges of a process, each opened once.

    Args:
        cache: where replies are kept, None to keep none.
        workers: how many processes share limits and budget.
        worker_index: of this process among them, from 0.
        refresh: ask again what is stored from earlier sessions.
        repeat: 1 for the first time that questions are put; another number is another set of replies.
        reverse_options: name the choices of a reply in the other order.
        budgets: what is left, by configuration; shared by several of these where they spend from one purse.
        examples: in place of those of the configuration, by prompt.
        run_id: the same for all workers of a run and for its continuation, which spend from one purse in the
            cache; "" where there is none: then each worker has its part of the budget.
        member: what is asked in place of a session.
    """

    registry: Registry
    cache: AnswerCache | None = None
    workers: int = 1
    worker_index: int = 0
    refresh: bool = False
    repeat: int = 1
    reverse_options: bool = False
    budgets: dict[str, Budget] = dataclasses.field(default_factory=dict)
    examples: Mapping[str, Sequence[Example]] | None = None
    run_id: str = ""
    member: Callable[[ModelSession], JudgeModel] = lambda session: session
    _thread: LoopThread = dataclasses.field(
        default_factory=lambda: LoopThread("evalstudio-judge"), init=False
    )
    _sessions: dict[tuple[str, str], ModelSession] = dataclasses.field(default_factory=dict, init=False)
    _panels: dict[tuple[str, str], Panel] = dataclasses.field(default_factory=dict, init=False)

    def open(
        self,
        config: Configuration,
        settings: Mapping[str, Any] | None = None,
        *,
        defaults: Mapping[str, Any] | None = None,
    ) -> Panel:
        """The judge of a configuration, or of an evaluator that has its own.

        Args:
            settings: what the evaluator's settings table says; what it leaves out is as in `[judge]`.
            defaults: parameters of a judge's host where it has them and the configuration does not set them;
                `STEADY` where not given.

        Raises:
            ConfigurationError: if none is configured, or it cannot be had.
        """
        table = judge_table(config, settings)
        optional = NOTHING
        if table.steady:
            optional = STEADY if defaults is None else defaults
        identity = (str(config.folder), repr((table, optional)))
        if identity not in self._panels:
            _check_images(config, self.registry, table)
            self._panels[identity] = Panel(
                [self.member(self._session(config, member, optional)) for member in table.members],
                _prompts(config, table, self.examples),
                run=self._thread.run,
                vote=table.vote,
                budget=self._budget(config),
                repeat=self.repeat,
                reverse_options=self.reverse_options,
            )
        return self._panels[identity]

    def spent(self) -> dict[str, float]:
        """Return the usage of this process: calls, cost_usd, input_tokens, output_tokens.

        Stored replies are not included.
        """
        names = ("calls", "cost_usd", "input_tokens", "output_tokens")
        return {name: sum(getattr(budget, name) for budget in self.budgets.values()) for name in names}

    def mask(self, text: str) -> str:
        """Return a text without the secrets of the open judges."""
        for session in self._sessions.values():
            text = session.mask_output(text)
        return text

    def notes(self) -> list[str]:
        """Return what the hosts have to say about their services."""
        return [note for session in self._sessions.values() for note in session.notes]

    def close(self) -> None:
        """End all connections."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._panels.clear()
        self._thread.stop()

    def _budget(self, config: Configuration) -> Budget:
        key = str(config.folder)
        if key not in self.budgets:
            self.budgets[key] = self._new_budget(config)
        return self.budgets[key]

    def _new_budget(self, config: Configuration) -> Budget:
        table = config.judge
        if table is None or (table.max_calls is None and table.max_cost is None):
            return Budget()
        limits = BudgetLimits(max_calls=table.max_calls, max_cost_usd=table.max_cost)
        if self.run_id and self.cache is not None and self.cache.store.is_writable:
            return Budget(
                limits=limits, purse=SharedPurse(self.cache.store, f"{self.run_id} {config.folder}")
            )
        return Budget(limits=limits.share(self.workers, self.worker_index))

    def _session(
        self, config: Configuration, member: JudgeMember, optional: Mapping[str, Any]
    ) -> ModelSession:
        settings = settings_of_member(config, member)
        name = str(settings.get("llm_model_name") or member.model or settings.get("host"))
        identity = (str(config.folder), repr((optional, sorted(settings.items(), key=str))))
        if identity not in self._sessions:
            session = self._sessions[identity] = open_model(
                name,
                settings,
                self.registry,
                folder=Path(config.folder),
                cache=self.cache,
                workers=self.workers,
                run=fixed_run(AskingRun.new(refreshes=self.refresh)),
                kept=CacheMode.ALWAYS,
                thread=self._thread,
                kind="judge",
                optional=optional,
            )
            limit = config.judge.max_cost if config.judge is not None else None
            if limit is not None and (
                fact := unpriced_limit(
                    session.host, session.prices, name, f"judge.max_cost = {limit:g}", UNHELD
                )
            ):
                session.notes.append(f"judge {name!r}: {fact}")
        return self._sessions[identity]


def judge_table(config: Configuration, settings: Mapping[str, Any] | None = None) -> JudgeTable:
    """Return the table of an evaluator: the configuration's judge, overridden by the evaluator's own table.

    Raises:
        ConfigurationError: if there is neither.
    """
    if settings:
        return JudgeTable.over(config.judge, settings)
    if config.judge is None or not config.judge.members:
        fact = "asks a judge, and none is configured"
        raise ResourceMissing(f"{fact}: {_REMEDY}", brief=fact)
    return config.judge


def writer_settings(config: Configuration, name: str) -> Mapping[str, str] | None:
    """Return the settings with which `Judges.open` opens a writer.

    Args:
        name: of a `[[model]]`, or "judge" for that of `[judge]`.

    Raises:
        ConfigurationError: if it is neither.
    """
    models = [table.name for table in config.model]
    if name not in models and name != CONFIGURED_WRITER:
        raise unknown_name(
            "writer",
            name,
            [*models, CONFIGURED_WRITER],
            'A writer is the name of a [[model]], or "judge" for that of [judge].',
        )
    return {"model": name} if name in models else None


def check_judge_settings(
    config: Configuration, registry: Registry, settings: Mapping[str, Any] | None = None
) -> None:
    """Check the tables of a judge without opening it.

    Args:
        settings: an evaluator's table for its judge, on top of the configuration's.

    Raises:
        ConfigurationError: for an unknown model or host, an option that is unknown or has the wrong type, or
            a prompt of another version than the configuration pins.
    """
    table = judge_table(config, settings)
    _prompts(config, table)
    _check_images(config, registry, table)
    for member in table.members:
        host = settings_of_member(config, member)
        name = str(host.get("llm_model_name") or member.model or host.get("host"))
        check_model(name, host, registry, kind="judge")


def _check_images(config: Configuration, registry: Registry, table: JudgeTable) -> None:
    """Check that the hosts of a judge that is to see images take images.

    Raises:
        ConfigurationError: for the first that does not.
    """
    for member in table.members if table.images else ():
        host = str(settings_of_member(config, member).get("host"))
        if host in registry.hosts and not set(IMAGE_TYPES) & set(registry.hosts.spec(host).media_types):
            capable = [spec.id for spec in registry.hosts.specs() if set(IMAGE_TYPES) & set(spec.media_types)]
            raise ConfigurationError(
                f"judge.images: host {host!r} takes no images; use one of the hosts {', '.join(capable)}"
            )


def _prompts(
    config: Configuration, table: JudgeTable, examples: Mapping[str, Sequence[Example]] | None = None
) -> Prompts:
    """Return the prompts of a judge, of the versions that its table pins, with its examples."""
    if examples is None and table.examples:
        examples = JudgeExamples.load(config.folder / table.examples).by_prompt()
    prompts = Prompts(
        config.folder / table.templates if table.templates else None,
        examples or NOTHING,
        shows_images=table.images,
    )
    prompts.check_versions(table.template_versions)
    return prompts


def settings_of_member(config: Configuration, member: JudgeMember) -> dict[str, Any]:
    """Return the host and its parameters: those of a named model with the judge's table on top.

    Raises:
        ConfigurationError: if no model has that name.
    """
    settings = {
        **connection_settings(member.connection or "", config.connection, "judge"),
        "prices": {name: price.model_dump(mode="json") for name, price in config.prices.items()},
        **member.settings,
    }
    if member.model is None:
        return settings
    models = {table.name: table for table in config.model}
    if member.model not in models:
        raise unknown_name("model", member.model, models, "A judge's `model` is the name of a [[model]].")
    return {**models[member.model].settings, **settings}


def agent_of(config: Configuration, registry: Registry) -> str:
    """Return the name of the first configured model that is an agent, "" if there is none."""
    for table in config.model:
        option = registry.hosts.spec(table.host).agent_option if table.host in registry.hosts else ""
        value: Any = table.settings
        for name in option.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if option and value:
            return table.name
    return ""


def describe_judge(
    config: Configuration, settings: Mapping[str, Any] | None, prompts: Sequence[str]
) -> dict[str, Any]:
    """Describe a judge for records and reports.

    The description has models, vote, and the version of each prompt that an evaluator may use.

    Nothing where there is no judge: what is lacking is said when it is opened.
    """
    try:
        table = judge_table(config, settings)
    except ConfigurationError:  # the same fault is reported when a judge is opened
        return {}
    folder = config.folder / table.templates if table.templates else None
    models = {model.name: model.settings for model in config.model}
    return {
        "models": [
            _described({**models.get(member.model or "", {}), **member.settings}) for member in table.members
        ],
        **non_empty(vote=table.vote if len(table.members) > 1 else None),
        "prompts": Prompts(folder).versions(prompts),
        **non_empty(examples=table.examples, images=table.images or None),
    }


def _described(settings: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(settings[key]) for key in ("host", "llm_model_name") if settings.get(key)}
