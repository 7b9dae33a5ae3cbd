"""Checks of configured hosts: whether they can be reached, and with which models."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError, unknown_name
from pytest_evalstudio.core.plugins.host import HostFault, Lists, OffersTools
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration

QUESTION = "Reply with the word ready."
PLACEHOLDERS: Mapping[str, str] = {
    "llm_model_name": "any",
    "environment_id": "any",
    "knowledge_base_id": "any",
}
"""Parameters that a host requires and that its list of models does not depend on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck:
    """Result of a check.

    Attributes:
        host: id of the host.
        fault: reason why it cannot be used, "" if it can.
        duration_s: seconds until it answered.
        models: number of models, or tools, that it lists; None where it was asked a question instead.
        lists: "models" or "tools".
        notes: messages of the host.
    """

    host: str
    fault: str
    duration_s: float
    models: int | None
    lists: str = "models"
    notes: Sequence[str] = ()


def check_host(config: Configuration, name: str, registry: Registry) -> HostCheck:
    """Check address and key of a connection or model: by its list of models, else by a question.

    Raises:
        ConfigurationError: if there is no such connection or model, or it cannot be opened.
    """
    with opened_by_name(config, name, registry) as session:
        start = time.perf_counter()
        models: int | None = None
        fault = ""
        if session.spec.lists:
            try:
                models = len(_listed(session))
            except EvaluationError as exc:
                fault = str(exc)
        else:
            fault = session.ask([Prompt(text=QUESTION)])[0].error
        return HostCheck(
            host=session.spec.id,
            fault=fault,
            duration_s=time.perf_counter() - start,
            models=models,
            lists="tools" if isinstance(session.host, OffersTools) else "models",
            notes=tuple(session.notes),
        )


def models_of(config: Configuration, name: str, registry: Registry) -> list[str]:
    """Return the names of the models at a connection, or at the service of a model.

    Raises:
        ConfigurationError: if there is no such connection or model, or its host cannot list models.
        EvaluationError: if the service cannot be asked.
    """
    with opened_by_name(config, name, registry) as session:
        if not session.spec.lists:
            raise ConfigurationError(f"{name!r}: host {session.spec.id!r} cannot list models")
        return sorted(_listed(session))


def tools_of(config: Configuration, name: str, registry: Registry) -> list[dict[str, Any]]:
    """Return the definitions of the tools of a connection or model, sorted by name.

    Raises:
        ConfigurationError: if there is no such connection or model, or its host offers no tools.
        EvaluationError: if the service cannot be asked.
    """
    with opened_by_name(config, name, registry) as session:
        if not isinstance(session.host, OffersTools):
            raise ConfigurationError(f"{name!r}: host {session.spec.id!r} offers no tools; use a host mcp")
        try:
            definitions = session.within_limits(session.host.tools)
        except HostFault as fault:
            raise EvaluationError(session.mask(str(fault))) from None
        return sorted(definitions, key=lambda definition: str(definition.get("name", "")))


def _listed(session: ModelSession) -> list[str]:
    try:
        return session.within_limits(cast(Lists, session.host).models)
    except HostFault as fault:
        raise EvaluationError(session.mask(str(fault))) from None


def opened_by_name(config: Configuration, name: str, registry: Registry) -> ModelSession:
    """Open the host of a connection or model without retries and cache.

    Raises:
        ConfigurationError: if there is no such connection or model, or it cannot be opened.
    """
    settings = settings_by_name(config, name)
    return open_model(
        name,
        {**_placeholders(settings, registry), **settings, "retries": 0, "cache": False},
        registry,
        folder=Path(config.folder),
        cache=None,
        kind="connection" if name in config.connection else "model",
        allow_private_hosts=config.allow_private_hosts,
    )


def settings_by_name(config: Configuration, name: str) -> Mapping[str, Any]:
    """Return the table of a connection or model.

    Raises:
        ConfigurationError: if there is no such connection or model.
    """
    models = {table.name: table.settings for table in config.model}
    connections = {key: dict(table.settings) for key, table in config.connection.items()}
    settings: Mapping[str, Any] | None = connections.get(name) or models.get(name)
    if settings is None:
        remedy = "Give the name of a [connection.NAME] or a [[model]]."
        raise unknown_name("connection or model", name, [*connections, *models], remedy)
    return settings


def _placeholders(settings: Mapping[str, Any], registry: Registry) -> dict[str, str]:
    """Return values for the parameters that a connection leaves to its models."""
    from pytest_evalstudio.core.plugins.declaring import parameters

    host = settings.get("host")
    if not isinstance(host, str) or host not in registry.hosts or not registry.hosts.spec(host).lists:
        return {}
    placeholders = parameters(registry.hosts.get(host))
    return {
        key: value for key, value in PLACEHOLDERS.items() if key in placeholders and placeholders[key] == ""
    }
