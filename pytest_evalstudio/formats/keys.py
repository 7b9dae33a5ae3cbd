"""Keys for what has none: derived from the content, so that they are the same in every run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

_NOT_WORD = re.compile(r"[^\w]+")
_TELLING = re.compile(r"\S{25,}|\S*@\S*|\S*\d\S*\d\S*\d\S*")
"""Words that may be a private address, number or key: a name made from a question must not contain them."""


def derived_key(text: str, *more: object) -> str:
    """Return a key for a case without one: the first words of its text, and a digest of its content.

    Words that may be personal data or a secret are left out, because node ids are public.

    Args:
        text: the question.
        more: further JSON values that distinguish the case from others.

    >>> derived_key("What was the revenue of Brazil?", "", [])
    'what-was-the-revenue-of-brazil-1d90f9e3'
    >>> derived_key("Is jane@bank.com, SSN 219-09-9999, a client?").rpartition("-")[0]
    'is-ssn-a-client'
    """
    digest = hashlib.sha256(
        json.dumps([text, *more], ensure_ascii=True, sort_keys=True, default=str).encode()
    ).hexdigest()[:8]
    words = _NOT_WORD.sub("-", _TELLING.sub(" ", text[:400])[:200]).strip("-").lower()[:40].rstrip("-")
    return f"{words}-{digest}" if words else digest


class Numbered:
    """Hands out each name once; a second use gets "-2", a third "-3"."""

    def __init__(self, used_keys: Iterable[str] = ()) -> None:
        self._taken = set(used_keys)
        # The last number of each name, so that a name used n times does not take n² steps.
        self._last: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        candidate = name
        while candidate in self._taken:
            self._last[name] = self._last.get(name, 1) + 1
            candidate = f"{name}-{self._last[name]}"
        self._taken.add(candidate)
        return candidate
