"""Hosts for Python: what is configured, which models a service offers, and the defaults of a host."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_evalstudio.asking.checking import models_of
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration, load_configuration
from pytest_evalstudio.formats.model_tables import connection_settings
from pytest_evalstudio.formats.recognition import find_configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredHost:
    """A connection or model of a configuration.

    Attributes:
        name: of the `[connection.NAME]` or `[[model]]`.
        kind: which of the two.
        host: id of the host.
        llm_model_name: language model that it asks; "" where its settings name none.
    """

    name: str
    kind: Literal["connection", "model"]
    host: str
    llm_model_name: str = ""


def configured_hosts(config: str | Path | None = None) -> list[ConfiguredHost]:
    """Return the connections and models of a configuration, in this order.

    Args:
        config: configuration file; the nearest one from the current folder upwards where not given.

    Raises:
        ConfigurationError: if there is no configuration, or it has a fault.
    """
    configuration = find_and_load_configuration(config)
    connections = [
        ConfiguredHost(name=name, kind="connection", host=table.host)
        for name, table in configuration.connection.items()
    ]
    models = [
        ConfiguredHost(
            name=table.name,
            kind="model",
            host=table.host,
            llm_model_name=str(table.settings.get("llm_model_name") or ""),
        )
        for table in configuration.model
    ]
    return connections + models


def base_models(
    name: str, config: str | Path | None = None, *, registry: Registry | None = None
) -> list[str]:
    """Return the names of the models that the service of a connection or model offers.

    Args:
        name: of a `[connection.NAME]` or `[[model]]`.
        config: configuration file; the nearest one from the current folder upwards where not given.
        registry: registry of plugins; by default a new one.

    Raises:
        ConfigurationError: if there is no such connection or model, or its host cannot list models.
        EvaluationError: if the service cannot be asked.
    """
    return models_of(find_and_load_configuration(config), name, registry or Registry())


def host_defaults(host: str, *, registry: Registry | None = None) -> dict[str, Any]:
    """Return the parameters of a host with their defaults, as a new configuration to change.

    Parameters without a default, and the name of the model, are left out: each model gives its own.

    Args:
        host: id of the host, e.g. "h2ogpte".
        registry: registry of plugins; by default a new one.

    Raises:
        ConfigurationError: if there is no such host.

    >>> config = host_defaults("ollama")
    >>> config["url"], config["temperature"]
    ('http://localhost:11434', None)
    >>> config["temperature"] = 0.9
    """
    host_class: Any = (registry or Registry()).hosts.get(host)
    required = {
        field.name
        for field in dataclasses.fields(host_class)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    defaults = parameters(host_class)
    return {name: defaults[name] for name in defaults if name not in required | {"llm_model_name"}}


def connection_of(name: str, config: str | Path | None = None) -> dict[str, object]:
    """Return the keys of a `[connection.NAME]`, {} for no name.

    Raises:
        ConfigurationError: if there is no configuration, or no such connection in it.
    """
    if not name:
        return {}
    configuration = find_and_load_configuration(config)
    return connection_settings(name, configuration.connection, configuration.file)


def find_and_load_configuration(config: str | Path | None) -> Configuration:
    """Return a configuration; the nearest one from the current folder upwards where none is named.

    Raises:
        ConfigurationError: if there is none, or it has a fault.
    """
    folder = Path.cwd()
    path = Path(config) if config is not None else find_configuration(folder, Path(folder.anchor))
    if path is None:
        raise ConfigurationError(f"{folder}: there is no evalstudio.toml here or above; name a configuration")
    return load_configuration(path)
