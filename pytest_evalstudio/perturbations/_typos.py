"""Typical typos: one or two per text, inside words, as people make them."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from pytest_evalstudio.core.plugins.perturbator import Change
from pytest_evalstudio.perturbations._characters import SHARES

Typo = Callable[[str, int, random.Random], str]
"""Return a word with a typo at an index: not that of its first letter, nor of its last."""

_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{4,}(?![\w'’-])")
_MOST = 2
_ATTEMPTS = 8
"""Typos that are tried in a word before the next word's turn."""


def doubled(word: str, index: int, rng: random.Random) -> str:
    """Double a letter."""
    return word[:index] + word[index] + word[index:]


def dropped(word: str, index: int, rng: random.Random) -> str:
    """Drop a letter."""
    return word[:index] + word[index + 1 :]


def transposed(word: str, index: int, rng: random.Random) -> str:
    """Swap a letter with the next one, which is not the last; the word stays if there is none."""
    if index + 2 >= len(word):
        return word
    return word[:index] + word[index + 1] + word[index] + word[index + 2 :]


def replaced_from(table: Mapping[str, Sequence[str]]) -> Typo:
    """Return the typo that replaces a letter by one of a table's entries for it."""

    def replace(word: str, index: int, rng: random.Random) -> str:
        others = [other for other in table.get(word[index], ()) if not other.isdecimal()]
        return word[:index] + rng.choice(others) + word[index + 1 :] if others else word

    return replace


def typical(text: str, typos: Sequence[Typo], seed: int, candidates: int) -> Change:
    """Return a text with one typo, or with one or two where at least 38 characters could be changed.

    Words of at least four letters are changed, long ones more often, capitalised ones only if there are no
    others. No typo makes another English word: "from" does not become "form".

    Args:
        typos: the kinds that are made, each as often as the others.
        candidates: number of characters that the other intensities choose from; two typos are made only where
            the lowest of them makes two edits.
    """
    words = [match.span() for match in _WORD.finditer(text) if not _has_accents_after(text, match.end())]
    rng = random.Random(seed)
    # So that "typical" never makes more edits than the lowest share of the other intensities.
    number = rng.randint(1, _MOST) if round(SHARES["VERY_LOW"] * candidates) >= _MOST else 1
    # Weighted sampling without replacement (Efraimidis and Spirakis, 2006): longer words come earlier.
    order = sorted(
        words, key=lambda word: (text[word[0]].isupper(), -(rng.random() ** (1 / (word[1] - word[0]))))
    )
    edits: dict[int, tuple[int, str]] = {}
    for start, end in order:
        if len(edits) == number:
            break
        if new := _with_typo(text[start:end], typos, rng):
            edits[start] = (end, new)
    if not edits:
        return Change.none("it has no word of four letters or more in which a typo makes no other word")
    parts, position = [], 0
    for start, (end, new) in sorted(edits.items()):
        parts += [text[position:start], new]
        position = end
    return Change("".join([*parts, text[position:]]), len(edits))


def _with_typo(word: str, typos: Sequence[Typo], rng: random.Random) -> str:
    for _ in range(_ATTEMPTS):
        new = rng.choice(typos)(word, rng.randrange(1, len(word) - 1), rng)
        if new != word and new.lower() not in real_words():
            return new
    return ""


def _has_accents_after(text: str, end: int) -> bool:
    # A combining accent belongs to the last letter, which the pattern of words ends before.
    return end < len(text) and unicodedata.category(text[end])[0] == "M"


@cache
def real_words() -> frozenset[str]:
    """Return the English words that are one typo away from another English word.

    Source: WordNet 3.0 (copyright Princeton University), with regular and irregular inflections;
    `python tests/support/real_words.py` writes the file.
    """
    text = files("pytest_evalstudio.perturbations").joinpath("_real_words.txt").read_text(encoding="ascii")
    return frozenset(text.split())
