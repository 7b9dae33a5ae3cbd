"""Secrets of a configuration: taken from the environment, kept out of everything that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError

MASK = "***"

SHORTEST_IN_ANSWERS = 8
"""Shorter secrets ("none", "EMPTY": dummy keys of local servers) are masked in messages only; in answers and settings they are words."""

_SHORTEST = 4
_SECRET_WORDS = frozenset(
    {"secret", "token", "password", "passwd", "passphrase", "credential", "credentials", "authorization", "cookie", "apikey", "key"}
)
_REFERENCE = re.compile(r"\$?\$\{([^{}]*)\}")
_URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")


class Secrets:
    """The secret values of one model's settings.

    A value is secret if the name of its key says so (`api_key`, `session_token`, `Authorization`), or the name of the
    environment variable that it comes from. Names are judged by their words: `max_tokens` is none.
    """

    def __init__(self) -> None:
        self._values: set[str] = set()

    def expand(self, settings: Mapping[str, Any], *, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Settings with each `${NAME}` replaced from the environment, nested values too; `$${NAME}` stays as `${NAME}`.

        Raises:
            ConfigurationError: if a variable is not set, or empty; it is named.
        """
        known = os.environ if env is None else env
        return {key: self._expanded(value, key, known) for key, value in settings.items()}

    def masked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Expanded settings as they may be shown and stored."""
        return {key: self._masked(value, key) for key, value in settings.items()}

    def mask(self, text: str, *, shortest: int = _SHORTEST) -> str:
        """A text without the secrets of at least that length, and without logins in URLs."""
        for value in sorted(self._values, key=len, reverse=True):
            if len(value) >= shortest:
                text = text.replace(value, MASK)
        return text

    def mask_message(self, text: str) -> str:
        """A message without secrets and without logins in URLs."""
        return _URL_LOGIN.sub(MASK, self.mask(text))

    def _expanded(self, value: Any, key: str, env: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            expanded = _REFERENCE.sub(lambda found: self._variable(found, key, env), value)
            if looks_secret(key) and expanded:
                self._values.add(expanded)
            return expanded
        if isinstance(value, Mapping):
            return {name: self._expanded(item, key if looks_secret(key) else str(name), env) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._expanded(item, key, env) for item in value]
        return value

    def _variable(self, found: re.Match[str], key: str, env: Mapping[str, str]) -> str:
        if found[0].startswith("$$"):
            return found[0][1:]
        name = found[1]
        if not env.get(name):
            raise ConfigurationError(f"{key} = '${{{name}}}': the environment variable {name} is {'empty' if name in env else 'not set'}")
        if looks_secret(name) or looks_secret(key):
            self._values.add(env[name])
        return env[name]

    def _masked(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return MASK if looks_secret(key) and value else _URL_LOGIN.sub(MASK, self.mask(value, shortest=SHORTEST_IN_ANSWERS))
        if isinstance(value, Mapping):
            return {name: self._masked(item, key if looks_secret(key) else str(name)) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._masked(item, key) for item in value]
        return value


def looks_secret(name: str) -> bool:
    """Whether the name of a key or of an environment variable says that its value is secret.

    >>> [name for name in ("api_key", "OPENAI_API_KEY", "max_tokens", "X-Api-Key", "sessionToken", "key_words") if looks_secret(name)]
    ['api_key', 'OPENAI_API_KEY', 'X-Api-Key', 'sessionToken']
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace("-", "_").split("_")
    return any(word in _SECRET_WORDS and (word != "key" or at == len(words) - 1) for at, word in enumerate(words))
