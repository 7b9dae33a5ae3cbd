"""Conditions of generated test cases."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.mrm.quantities import pattern


def says(quantity: str) -> str:
    """The answer names a quantity, however it is written."""
    return str(Regexp(pattern(quantity)))


def says_words(words: Iterable[str]) -> str:
    """The answer has words that begin so, in any case."""
    return " AND ".join(str(Regexp(rf"(?i)\b{re.escape(_stem(word))}")) for word in words)


def begins_with(word: str) -> str:
    """The answer's first word, in any case."""
    return str(Regexp(rf"(?i)^\W*{re.escape(word)}\b"))


def _stem(word: str) -> str:
    """A singular without the y that a plural changes."""
    return word[:-1] if word.endswith("y") and len(word) > 3 else word
