"""Models as lab files describe them: foreign text that names no code, variable or address by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from pytest_evalstudio.asking.secrets import MASK
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry

_REFERENCE = re.compile(r"\$(?=\{)")


class LabTrust(Struct, frozen=True, kw_only=True):
    """State whether the user trusts the model descriptions of lab files.

    Attributes:
        is_trusted: whether the user passed the option.
        option: the option that says so, for messages: `-o evalstudio_trust_lab=true` in pytest,
            `--trust-lab` in the shell.
    """

    is_trusted: bool
    option: str


TRUSTED = LabTrust(is_trusted=True, option="trust=TRUSTED")
UNTRUSTED = LabTrust(is_trusted=False, option="trust=TRUSTED")


class LabModel(Struct, frozen=True, kw_only=True):
    """Hold what a lab file says of one of its models.

    Attributes:
        name: label of the model.
        host: id of the host, the lab's `model_type`.
        parameters: the lab's `model_cfg`.
    """

    name: str
    host: str
    parameters: Mapping[str, Any]


def settings_of_lab_model(
    model: LabModel, registry: Registry, trust: LabTrust, *, configured: Iterable[str]
) -> dict[str, Any]:
    """Return the settings with which a model that only a lab describes is opened.

    References such as `${NAME}` in them stay as they are: a lab reads no environment variable.

    Args:
        configured: names of the models that the user configured, for the message.

    Returns:
        The table of a model: `host` and the host's parameters.

    Raises:
        ConfigurationError: if the user does not trust the lab, or the description cannot be used.
    """
    names = ", ".join(configured)
    remedy = (
        f"Add a [[model]] with name = {model.name!r} to evalstudio.toml"
        f" ({f'configured here: {names}' if names else 'none is configured here'})"
    )
    fact = f"model {model.name!r} of the lab is to be asked and is not configured. {remedy}"
    if model.host not in registry.hosts:
        raise ConfigurationError(fact)
    if registry.hosts.spec(model.host).runs_user_code:
        raise ConfigurationError(
            f"{fact}. The lab's own description is not used: host {model.host!r} runs code, which a lab may"
            " not name"
        )
    if registry.hosts.spec(model.host).finds_credentials:
        raise ConfigurationError(
            f"{fact}. The lab's own description is not used: host {model.host!r} finds your credentials by"
            " itself, and a lab may not say where they go"
        )
    if MASK in str(model.parameters):
        raise ConfigurationError(f"{fact}. The lab's own description is not used: its secrets are masked")
    if not trust.is_trusted:
        raise ConfigurationError(
            f"{fact}, or pass {trust.option} to use the lab's own description (host {model.host!r}) if you"
            " trust the file"
        )
    return {**{key: _literal(value) for key, value in model.parameters.items()}, "host": model.host}


def _literal(value: Any) -> Any:
    """Return a setting in which `${NAME}` is escaped, so that it is not expanded."""
    if isinstance(value, str):
        return _REFERENCE.sub("$$", value)
    if isinstance(value, Mapping):
        return {key: _literal(item) for key, item in value.items()}
    return [_literal(item) for item in value] if isinstance(value, list | tuple) else value
