"""Texts in one line."""

from __future__ import annotations

EXCERPT_CHARS = 200


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    r"""Return the beginning of a text on one line.

    >>> excerpt("one\n two", 5)
    'one …'
    """
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"
