"""Replacement of a share of the matches of a table of words and phrases."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity
from pytest_evalstudio.perturbations._characters import picked
from pytest_evalstudio.perturbations._grammar import cased

SHARES: Mapping[Intensity, float] = {"LOW": 0.3, "MEDIUM": 0.6, "HIGH": 1.0}
"""Share of the matches that are replaced."""


def pattern_of(table: Mapping[str, str]) -> re.Pattern[str]:
    """Return the pattern of the keys as whole words, the longest first; blanks stand for any white space."""
    keys = sorted(table, key=lambda key: (-len(key), key))
    phrases = "|".join(re.escape(key).replace("\\ ", r"\s{1,3}") for key in keys)
    # With apostrophes and hyphens, so that "is" is not found in "isn't".
    return re.compile(rf"(?<![\w'’-])(?:{phrases})(?![\w'’-])", re.IGNORECASE)


def replaced(
    text: str,
    pattern: re.Pattern[str],
    table: Mapping[str, str],
    intensity: Intensity,
    seed: int,
    missing: str,
) -> Change:
    """Return a text in which a share of the matches is replaced.

    Args:
        pattern: of the keys of the table; see `pattern_of`.
        table: key in lower case with single blanks to its replacement; with "" the white space that follows
            is deleted as well.
        missing: reason if nothing matches.
    """
    matches = list(pattern.finditer(text))
    if not matches:
        return Change.none(missing)
    indices = sorted(picked(range(len(matches)), SHARES[intensity], seed))
    parts: list[str] = []
    position = 0
    for index in indices:
        start, end = matches[index].span()
        new = cased(table[" ".join(matches[index][0].lower().split())], matches[index][0])
        parts += [text[position:start], new]
        position = end
        if not new:
            # A deleted word takes the space after it along; that before it stays.
            while position < len(text) and text[position].isspace():
                position += 1
    result = "".join(parts) + text[position:]
    # A text of articles alone would become empty.
    return Change(result, len(indices)) if result.strip() and result != text else Change.none(missing)
