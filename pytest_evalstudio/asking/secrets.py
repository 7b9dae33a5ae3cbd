"""Secrets of a configuration: taken from the environment, kept out of everything that is written."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError

MASK = "***"

SHORTEST_IN_ANSWERS = 8
"""Shorter secrets ("none", "EMPTY": dummy keys of local servers) are masked in messages only; in answers and
settings they are words.
"""

_SHORTEST = 4  # masking shorter values would hide parts of ordinary words
_SHORTEST_ENCODED = 6
_SECRET_WORDS = frozenset(
    {
        *("secret", "secrets", "token", "apikey", "apikeys", "bearer", "authorization", "cookie"),
        *("password", "passwords", "passwd", "passphrase", "pwd", "cred", "creds", "credential"),
        *("credentials", "dsn", "jwt"),
    }
)
_SECRET_LAST_WORDS = frozenset({"key", "pass", "auth"})
"""Words of a secret where nothing but a qualifier follows: `API_KEY_PROD` and `SMTP_PASS` are secret,
`key_words` and `pass_k` are not.
"""
_QUALIFIERS = frozenset(
    {
        *("prod", "production", "live", "dev", "development", "test", "testing", "qa", "stage", "staging"),
        *("old", "new", "primary", "secondary", "backup", "b64", "base64", "value"),
    }
)
_KINDS_OF_KEY = frozenset(
    {
        "api",
        "access",
        "account",
        "private",
        "secret",
        "encryption",
        "signing",
        "master",
        "client",
        "service",
        "storage",
        "subscription",
    }
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_REFERENCE = re.compile(r"\$?\$\{([^{}]*)\}")
_URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")


class Secrets:
    """The secret values of one model's settings.

    A value is secret if the name of its key says so (`api_key`, `session_token`, `Authorization`), or the
    name of the environment variable that it comes from. Names are judged by their words: `max_tokens` is
    none.
    """

    def __init__(self) -> None:
        self._values: dict[str, tuple[str, ...]] = {}

    def expand(self, settings: Mapping[str, Any], *, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return settings with each `${NAME}` replaced from the environment, also in nested values.

        `$${NAME}` becomes `${NAME}`.

        Raises:
            ConfigurationError: if a variable is not set, or empty; it is named.
        """
        environment = os.environ if env is None else env
        return {key: self._expanded(value, key, environment) for key, value in settings.items()}

    def masked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Expanded settings as they may be shown and stored."""
        return {key: self._masked(value, key) for key, value in settings.items()}

    def mask(self, text: str, *, shortest: int = _SHORTEST) -> str:
        """Return a text without secrets of at least that length, in any form of `encoded_forms`."""
        # The longest first: where a secret is a part of another one, the rest of that would stay readable.
        for value in sorted(self._values, key=len, reverse=True):
            if len(value) >= shortest:
                for form in self._values[value]:
                    text = text.replace(form, MASK)
        return text

    def mask_message(self, text: str) -> str:
        """A message without secrets and without logins in URLs."""
        return _URL_LOGIN.sub(MASK, self.mask(text))

    def _keep(self, value: str) -> None:
        self._values.setdefault(value, encoded_forms(value))

    def _expanded(self, value: Any, key: str, env: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            expanded = _REFERENCE.sub(lambda match: self._variable(match, key, env), value)
            if looks_secret(key) and expanded:
                self._keep(expanded)
            return expanded
        if isinstance(value, Mapping):
            return {
                name: self._expanded(item, key if looks_secret(key) else str(name), env)
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._expanded(item, key, env) for item in value]
        return value

    def _variable(self, match: re.Match[str], key: str, env: Mapping[str, str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        name = match[1]
        if not env.get(name):
            raise ConfigurationError(
                f"{key} = '${{{name}}}': the environment variable {name} is"
                f" {'empty' if name in env else 'not set'}"
            )
        # The value alone too: a service may quote it without the text around it, e.g. without "Bearer".
        if looks_secret(name) or looks_secret(key):
            self._keep(env[name])
        return env[name]

    def _masked(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return (
                MASK
                if looks_secret(key) and value
                else _URL_LOGIN.sub(MASK, self.mask(value, shortest=SHORTEST_IN_ANSWERS))
            )
        if isinstance(value, Mapping):
            return {
                name: self._masked(item, key if looks_secret(key) else str(name))
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._masked(item, key) for item in value]
        return value


def encoded_forms(value: str) -> tuple[str, ...]:
    """Return a secret as services echo it, the longest form first.

    The forms are: unchanged, URL-encoded, HTML- and JSON-escaped, and base64.

    Base64 comes in the standard and the URL-safe alphabet, and as it looks inside a longer text, such as
    `user:password` of basic authentication, where it may start at any of three offsets; characters that
    depend on the neighbours are left out.

    >>> encoded_forms("a&b=cd")[:4]
    ('a%26b%3Dcd', 'a%26b%3dcd', 'a&amp;b=cd', 'YSZiPWNk')
    """
    data = value.encode("utf-8", "surrogatepass")
    # Clients differ in the signs that they leave unencoded, and in the case of hexadecimal digits.
    quoted = {urllib.parse.quote(data, safe=safe) for safe in ("", "/", "/:=&+@")} | {
        urllib.parse.quote_plus(data)
    }
    quoted |= {re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), text) for text in quoted}
    escaped = {
        html.escape(value),
        html.escape(value, quote=False),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
    }
    encoded: set[str] = set()
    for offset in range(3):
        text = base64.b64encode(bytes(offset) + data).decode()
        # Digits whose six bits are all of the secret: rounded up at its beginning, down at its end.
        inner = text[(offset * 8 + 5) // 6 : (offset + len(data)) * 8 // 6]
        whole = {text, text.rstrip("=")} if offset == 0 else set()
        encoded |= {form for form in (inner, *whole) if len(form) >= _SHORTEST_ENCODED}
    encoded |= {text.replace("+", "-").replace("/", "_") for text in encoded}
    return tuple(sorted({value, *quoted, *escaped, *encoded}, key=lambda form: (-len(form), form)))


def looks_secret(name: str) -> bool:
    """Return whether the name of a key or of an environment variable says that its value is secret.

    >>> names = ("api_key", "X-Api-Key", "sessionToken", "API_KEY_PROD", "SMTP_PASS", "max_tokens", "key_words", "monkey", "pass_k")
    >>> [name for name in names if looks_secret(name)]
    ['api_key', 'X-Api-Key', 'sessionToken', 'API_KEY_PROD', 'SMTP_PASS']
    """  # noqa: E501
    words = [word.lower() for word in _WORD.findall(name)]
    # `API_KEY_PROD_2` is judged as `API_KEY`.
    while len(words) > 1 and (words[-1] in _QUALIFIERS or words[-1].isdecimal()):
        words.pop()
    if words and words[-1] in _SECRET_LAST_WORDS:
        return True
    return any(
        word in _SECRET_WORDS or (word in ("key", "keys") and before in _KINDS_OF_KEY)
        for before, word in zip(["", *words], words, strict=False)
    )
