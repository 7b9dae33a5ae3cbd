"""Keys for what has none: derived from the content, so that they are the same in every run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

_NOT_WORD = re.compile(r"[^\w]+")


def derived_key(text: str, *more: object) -> str:
    """A key for a keyless case: the first words of its text and a digest of all that makes it what it is.

    Args:
        text: the question.
        more: what else tells it from others; JSON values.

    >>> derived_key("What was the revenue of Brazil?", "", [])
    'what-was-the-revenue-of-brazil-1d90f9e3'
    """
    digest = hashlib.sha256(json.dumps([text, *more], ensure_ascii=True, sort_keys=True, default=str).encode()).hexdigest()[:8]
    words = _NOT_WORD.sub("-", text[:200]).strip("-").lower()[:40].rstrip("-")
    return f"{words}-{digest}" if words else digest


class Numbered:
    """Hands out each name once; a second use gets "-2", a third "-3"."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        candidate = name
        while candidate in self._taken:
            self._last[name] = self._last.get(name, 1) + 1
            candidate = f"{name}-{self._last[name]}"
        self._taken.add(candidate)
        return candidate
