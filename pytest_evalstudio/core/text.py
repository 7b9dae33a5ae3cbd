"""Texts in one line, and texts without a visible character."""

from __future__ import annotations

import re
import unicodedata

EXCERPT_CHARS = 200
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INVISIBLE_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
)
"""Letters and marks without a visible form: joiners, fillers, variation selectors, the empty Braille pattern.

Source: Unicode Character Database, Default_Ignorable_Code_Point, without the formats that `Cf` has.
"""


def is_blank(text: str) -> bool:
    r"""Return True if a text has no visible character, only blanks, controls, joiners and fillers.

    >>> is_blank(" \n\u200b\ufeff"), is_blank("-")
    (True, False)
    """
    return all(
        char.isspace() or unicodedata.category(char) in ("Cc", "Cf") or char in _INVISIBLE_LETTERS
        for char in text
    )


def short_key(key: str) -> str:
    """Return the first 8 hex digits of a key that is a UUID, any other key as it is.

    >>> short_key("1f2e3d4c-0000-0000-0000-000000000000"), short_key("capital-of-france")
    ('1f2e3d4c', 'capital-of-france')
    """
    return key[:8] if _UUID.fullmatch(key) else key


def with_short_keys(text: str) -> str:
    """Return a text with the first 8 hex digits of each UUID in it.

    >>> with_short_keys("bank.json::1f2e3d4c-0000-0000-0000-000000000000[app]")
    'bank.json::1f2e3d4c[app]'
    """
    return _UUID.sub(lambda match: match[0][:8], text)


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    r"""Return the beginning of a text on one line.

    >>> excerpt("one\n two", 5)
    'one …'
    """
    line = " ".join(text[: 4 * limit].split())
    if line == text and len(line) <= limit:
        return text  # the same string, of which reports keep one for each case
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"
