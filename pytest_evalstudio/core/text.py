"""Texts in one line, and texts without a visible character."""

from __future__ import annotations

import unicodedata

EXCERPT_CHARS = 200
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


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    r"""Return the beginning of a text on one line.

    >>> excerpt("one\n two", 5)
    'one …'
    """
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"
