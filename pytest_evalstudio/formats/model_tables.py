"""`[[model]]`, `[connection.NAME]` and `[prices."MODEL"]`: which models there are, and what they share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.formats.prompt_files import PromptFile, read_prompts
from pytest_evalstudio.formats.repeats import Runs

MAX_VALUE_CHARS = 40
_SECRET = re.compile(r"key|token|secret|password|authorization|credential", re.IGNORECASE)


class BudgetTable(BaseModel):
    """Limits of the asking of one model in a run; it ends before one of them is passed.

    Attributes:
        cost_usd: US dollars.
        calls: requests, including retries.
        tokens: tokens of prompts and answers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        unknown = [name for name in data if name not in cls.model_fields] if isinstance(data, dict) else []
        if unknown:
            raise ValueError(f"unknown key {unknown[0]!r}; known keys: {', '.join(cls.model_fields)}")
        return data

    @model_validator(mode="after")
    def _limits_something(self) -> BudgetTable:
        if self.cost_usd is None and self.calls is None and self.tokens is None:
            raise ValueError("give cost_usd, calls or tokens")
        return self


def _one_or_several(value: object) -> object:
    return [value] if isinstance(value, Mapping | str) else value


class ModelTable(BaseModel):
    """`[[model]]`: a model to ask. Keys other than these are the host's parameters and limits.

    Attributes:
        name: label of the model.
        host: id of the host; that of the connection where one is given.
        connection: name of a `[connection.NAME]`, whose keys the model takes over.
        description: text about the model, which lab and record keep.
        model_cfg: further keys; several tables make several models, named by what differs.
        runs: number of times that each question is asked, or a table that ends the asking early.
        budget: limits of the asking in a run.
        confirm: how often a regressed case of this model is asked at most, as `comparison.confirm`. An
            application with tools, a state or a session is asked again only where this says so.
        prompt: template file of the prompt, or several, which make several models.
        prices: of all models, for costs that the host does not report.
    """

    model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)

    name: Annotated[str, Field(min_length=1)]
    host: str = ""
    connection: str = ""
    description: str = ""
    model_cfg: Annotated[
        list[dict[str, Any]],
        BeforeValidator(_one_or_several, json_schema_input_type=list[dict[str, Any]] | dict[str, Any]),
    ] = Field(default_factory=list)
    runs: Runs | None = None
    budget: BudgetTable | None = None
    confirm: Annotated[int, Field(ge=0)] | None = None
    prompt: Annotated[list[str], BeforeValidator(_one_or_several, json_schema_input_type=list[str] | str)] = (
        Field(default_factory=list)
    )
    prices: dict[str, Any] = Field(default_factory=dict)
    _template: PromptFile | None = PrivateAttr(default=None)

    @property
    def settings(self) -> dict[str, object]:
        """The host, its parameters, and what belongs to the session of the model."""
        prompt = {} if self._template is None else {"prompt": self._template.model_dump()}
        labels = {"connection": self.connection, "description": self.description, "prices": self.prices}
        return {
            "host": self.host,
            **(self.model_extra or {}),
            **{key: value for key, value in labels.items() if value},
            **prompt,
        }

    @property
    def template(self) -> PromptFile | None:
        """Return the template of the prompt, None for none."""
        return self._template

    def with_parameters(self, parameters: Mapping[str, object]) -> ModelTable:
        """Return the model with other parameters of its host and limits; name and prompt stay."""
        model = self.model_copy()
        model.__pydantic_extra__ = dict(parameters)
        return model

    def with_prompt(self, template: PromptFile | None) -> ModelTable:
        """Return the model with a template of its prompt."""
        model = self.model_copy()
        model._template = template
        return model


class ConnectionTable(BaseModel):
    """Connection to a service, which several models use.

    Attributes:
        host: id of the host; its parameters (url, api_key, proxy, ca_file, …) and limits are further keys.
        description: what the connection is.
    """

    model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)

    host: Annotated[str, Field(min_length=1)]
    description: str = ""

    @property
    def settings(self) -> dict[str, object]:
        """The host and its parameters."""
        return {"host": self.host, **(self.model_extra or {})}


class PriceTable(BaseModel):
    """Price of a model's tokens, for hosts that report no cost.

    Attributes:
        input_usd_per_million: US dollars per million tokens of questions.
        output_usd_per_million: US dollars per million tokens of answers.
        as_of: date of the prices, e.g. 2026-01-31; reports show it.
        cached_usd_per_million: US dollars per million tokens of questions that the service reads from its
            prompt cache; without it, they cost as the others.
        cache_write_usd_per_million: US dollars per million tokens of questions that it writes to the cache;
            without it, they cost as the others.
    """

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)

    input_usd_per_million: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output_usd_per_million: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    as_of: date
    cached_usd_per_million: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    cache_write_usd_per_million: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


def expanded_models(
    tables: Sequence[ModelTable],
    connections: Mapping[str, ConnectionTable],
    prices: Mapping[str, PriceTable],
    file: str,
    folder: Path = Path(),
) -> list[ModelTable]:
    """Return the models with the keys of their connections, one for each configuration and prompt.

    Args:
        file: of the configuration, for messages.
        folder: of the prompts.

    Raises:
        ConfigurationError: if a connection is unknown, a model has no host, or two configurations of a model
            are equal.
    """
    models: list[ModelTable] = []
    shared = {name: price.model_dump(mode="json", exclude_none=True) for name, price in prices.items()}
    for index, table in enumerate(tables):
        location = f"{file}: model.{index}" if file else f"model.{index}"
        table_settings = table.settings
        if not table.host:
            table_settings.pop("host")
        base = {**connection_settings(table.connection, connections, location), **table_settings}
        if not base.get("host"):
            raise ConfigurationError(f"{location}.host: 'host' is missing; add it, or name a connection")
        configurations = table.model_cfg or [{}]
        prompts: list[PromptFile | None] = [*read_prompts(table.prompt, folder, f"{location}.prompt")] or [
            None
        ]
        for label, settings in zip(
            labels_of(table.name, configurations, location), configurations, strict=True
        ):
            merged = {**base, **settings, "prices": shared}
            for prompt in prompts:
                name = label if len(prompts) == 1 or prompt is None else f"{label} ({_stem(prompt, prompts)})"
                shared_settings = {
                    "name": name,
                    "runs": table.runs,
                    "budget": table.budget,
                    "confirm": table.confirm,
                }
                model = ModelTable.model_validate({**merged, **shared_settings})
                models.append(model.with_prompt(prompt))
    return models


def _stem(prompt: PromptFile, prompts: Sequence[PromptFile | None]) -> str:
    """Return the name of a prompt's file without its suffix, with its folder where another has that name."""
    stems = [PurePath(other.file).stem for other in prompts if other is not None]
    path = PurePath(prompt.file)
    return path.stem if stems.count(path.stem) == 1 else path.with_suffix("").as_posix()


def connection_settings(
    name: str, connections: Mapping[str, ConnectionTable], location: str
) -> dict[str, object]:
    """Return the keys that a connection gives to a model, {} for no connection.

    Raises:
        ConfigurationError: if there is no such connection.
    """
    if not name:
        return {}
    if name not in connections:
        remedy = f"Add [connection.{name}] to the configuration."
        raise ConfigurationError(
            f"{location}.connection: {unknown_name('connection', name, connections, remedy)}"
        )
    return connections[name].settings


def labels_of(name: str, configurations: Sequence[Mapping[str, object]], location: str) -> list[str]:
    """Return a name for each configuration of a model, by the settings that differ.

    Values of secrets and long values are left out.

    Raises:
        ConfigurationError: if two configurations are equal.

    >>> labels_of("gpt", [{"llm_args": {"seed": 1, "top_k": 5}}, {"llm_args": {"seed": 2, "top_k": 5}}], "")
    ['gpt (seed=1)', 'gpt (seed=2)']
    """
    if len(configurations) == 1:
        return [name]
    flat = [_flat(configuration) for configuration in configurations]
    keys = dict.fromkeys(key for settings in flat for key in settings)
    differing = [key for key in keys if len({settings.get(key, "") for settings in flat}) > 1]
    names: list[str] = []
    for index, settings in enumerate(flat):
        if settings in flat[:index]:
            first = flat.index(settings)
            raise ConfigurationError(f"{location}.model_cfg: {index} is equal to {first}; remove one of them")
        parts = [f"{key.rpartition('.')[2]}={settings[key]}" for key in differing if _is_shown(key, settings)]
        label = f"{name} ({' '.join(parts)})" if parts else name
        names.append(label if label not in names else f"{label} #{index + 1}")
    return names


def _is_shown(key: str, settings: Mapping[str, str]) -> bool:
    return key in settings and len(settings[key]) <= MAX_VALUE_CHARS and not _SECRET.search(key)


def _flat(settings: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Return nested settings by dotted keys, their values as JSON; a text is without quotes."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value if isinstance(value, str) else json.dumps(value, default=str)
    return flat
