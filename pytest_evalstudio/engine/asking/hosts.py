"""From a `[[model]]` table of the configuration to a model that can be asked."""

from __future__ import annotations

import typing
import uuid
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pytest_evalstudio.core.contracts import Host, parameters
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.registry import Registry
from pytest_evalstudio.engine.asking.answers import AnswerCache, digest_of
from pytest_evalstudio.engine.asking.downloads import named_hosts
from pytest_evalstudio.engine.asking.limits import Limits
from pytest_evalstudio.engine.asking.loops import LoopThread
from pytest_evalstudio.engine.asking.resolve import ModelSession
from pytest_evalstudio.engine.asking.secrets import Secrets
from pytest_evalstudio.hosts._tools import HostTools
from pytest_evalstudio.models.sentences import split_sentences

LIMIT_KEYS = ("concurrency", "requests_per_minute", "timeout_s", "retries", "breaker")
SESSION_KEYS = ("host", "cache", "rag", "runs", *LIMIT_KEYS)
"""Keys of a model's table that are not the host's: `runs` belongs to the plugin, `rag` says that a host of
kind "both" retrieves.
"""

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "pytest-evalstudio/model")


@runtime_checkable
class Opens(Protocol):
    """A host that checks its parameters and takes its tools before the first prompt."""

    def open(self, tools: HostTools) -> None: ...


def open_model(
    name: str,
    settings: Mapping[str, Any],
    registry: Registry,
    *,
    folder: Path,
    cache: AnswerCache | None,
    workers: int = 1,
    refresh: bool = False,
    env: Mapping[str, str] | None = None,
    thread: LoopThread | None = None,
    kind: str = "model",
    allow_private_hosts: bool = False,
) -> ModelSession:
    """Make a configured model ready to be asked.

    Args:
        settings: `host`, the host's parameters, limits, `cache` (bool, instead of the host's own choice),
            `rag`; `${NAME}` in any text is taken from the environment.
        folder: where relative paths and modules are looked for.
        cache: where answers are kept, None to keep none; it stays open when the session closes.
        workers: how many processes share the limits.
        refresh: ask again what is stored from earlier sessions.
        env: in place of the process's environment.
        thread: where its requests run, with those of others.
        kind: what messages call it.
        allow_private_hosts: whether documents may be fetched from addresses that are not public.

    Raises:
        ConfigurationError: if anything in the settings is unknown, missing or wrong.
    """
    try:
        return _opened(
            name,
            settings,
            registry,
            folder=folder,
            cache=cache,
            workers=workers,
            refresh=refresh,
            env=env,
            thread=thread,
            kind=kind,
            allow_private_hosts=allow_private_hosts,
        )
    except ConfigurationError as exc:
        raise ConfigurationError(f"{kind} {name!r}: {exc}") from exc


def _opened(
    name: str,
    settings: Mapping[str, Any],
    registry: Registry,
    *,
    folder: Path,
    cache: AnswerCache | None,
    workers: int,
    refresh: bool,
    env: Mapping[str, str] | None,
    thread: LoopThread | None,
    kind: str,
    allow_private_hosts: bool,
) -> ModelSession:
    host_id = settings.get("host")
    if not isinstance(host_id, str):
        raise ConfigurationError(f"needs `host`, one of {', '.join(registry.hosts)}")
    cls = registry.hosts.get(host_id)
    spec = registry.hosts.spec(host_id)
    secrets = Secrets()
    expanded = secrets.expand(settings, env=env)
    own = {key: value for key, value in expanded.items() if key not in SESSION_KEYS}
    limits = Limits(**{key: _number(expanded[key]) for key in LIMIT_KEYS if key in expanded}).share(workers)
    keeps = _flag(expanded, "cache", spec.caches)
    is_rag = _flag(expanded, "rag", spec.kind == "rag")
    try:
        host = _constructed(cls, host_id, own)
        if isinstance(host, Opens):
            downloads = cache.folder / "documents" if cache is not None else None
            host.open(
                HostTools(
                    name=name,
                    folder=folder,
                    downloads=downloads,
                    split_sentences=split_sentences,
                    mask=secrets.mask_message,
                    timeout_s=limits.timeout_s,
                    allow_private_hosts=allow_private_hosts,
                    trusted_hosts=named_hosts(),
                )
            )
    except ConfigurationError as exc:
        raise ConfigurationError(secrets.mask_message(str(exc))) from exc
    masked = secrets.masked(own)
    return ModelSession(
        host,
        name=name,
        key=str(uuid.uuid5(_NAMESPACE, digest_of([name, host_id, masked]))),
        settings=masked,
        limits=limits,
        is_rag=is_rag,
        secrets=secrets,
        cache=cache if keeps else None,
        refresh=refresh,
        thread=thread,
        kind=kind,
    )


def _constructed(cls: type[Host], host_id: str, values: Mapping[str, Any]) -> Host:
    known = parameters(cls)
    for key in values:
        if key not in known:
            hint = nearest(key, [*known, *SESSION_KEYS])
            raise ConfigurationError(
                f"host {host_id!r} has no parameter {key!r}. {hint or 'It has: ' + ', '.join(sorted(known))}"
            )
    required = (
        item.name
        for item in fields(cls)  # type: ignore[arg-type]
        if item.init and item.default is MISSING and item.default_factory is MISSING
    )
    missing = [name for name in required if name not in values]
    if missing:
        raise ConfigurationError(f"host {host_id!r} needs {', '.join(f'`{one}`' for one in missing)}")
    return cls(**_typed(cls, values))


def _typed(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as the fields' annotations want them: text from the environment may stand for a number."""
    from pydantic import ConfigDict, PydanticSchemaGenerationError, TypeAdapter, ValidationError

    try:
        hints = typing.get_type_hints(cls)
    except NameError:  # annotations that exist for type checkers only: somebody else's host checks for itself
        return dict(values)
    typed: dict[str, Any] = {}
    for key, value in values.items():
        try:
            typed[key] = TypeAdapter(
                hints[key], config=ConfigDict(arbitrary_types_allowed=True)
            ).validate_python(value)
        except PydanticSchemaGenerationError:
            typed[key] = value
        except ValidationError as exc:
            raise ConfigurationError(f"{key}: {exc.errors(include_input=False)[0]['msg'].lower()}") from None
    return typed


def _number(value: Any) -> Any:
    if isinstance(value, str):
        for read in (int, float):
            try:
                return read(value)
            except ValueError:
                continue
    return value


def _flag(settings: Mapping[str, Any], key: str, default: bool) -> bool:
    value = settings.get(key, default)
    if not isinstance(value, bool):
        raise ConfigurationError(f"{key} = {value!r}: must be true or false")
    return value
