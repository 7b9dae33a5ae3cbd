"""Selection of characters to change, and their replacements."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import TypeVar

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Intensity

T = TypeVar("T")

SHARES: dict[Intensity, float] = dict(zip(INTENSITIES[1:], (0.04, 0.1, 0.27, 0.5, 0.75, 0.95), strict=True))
"""Share of the characters that are changed; "TYPICAL" has none."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NOTHING_TO_CHANGE = "it has no letter or digit"

# Each size of a block has an order of its own, which is kept: larger blocks would need more memory.
_BLOCK = 1024
_NUMBERS = list(range(_BLOCK))
"""Shared integer objects for all orders."""
_ALNUM_BYTES = bytes(chr(byte).isalnum() for byte in range(256))


def picked(candidates: Sequence[T], share: float, seed: int) -> list[T]:
    """Return a share of the places, at least one, unordered; a lower share is a subset of a higher one.

    A fixed random order of as many numbers is begun at a place that the seed chooses; long texts are treated
    in blocks.
    """
    selected: list[T] = []
    for start in range(0, len(candidates), _BLOCK):
        block = candidates[start : start + _BLOCK] if len(candidates) > _BLOCK else candidates
        size = len(block)
        number = max(1, round(share * size))
        shift = (seed + start) % size
        # An index below zero counts from the end, so the order begins at the shift without a modulo.
        selected += [block[position - shift] for position in _order(size)[:number]]
    return selected


@lru_cache(maxsize=_BLOCK)
def _order(size: int) -> list[int]:
    order = _NUMBERS[:size]
    random.Random(size).shuffle(order)
    return order


def stream(seed: int, length: int) -> bytes:
    """Return random bytes, the same for the same seed."""
    # Not `random`: one call gives all bytes, and the same ones in every version of Python.
    return hashlib.shake_128(seed.to_bytes(8, "little")).digest(length)


def alphanumeric(text: str) -> list[int]:
    """Return the indices of letters and digits."""
    if text.isascii():
        return list(compress(range(len(text)), text.encode("ascii").translate(_ALNUM_BYTES)))
    return list(compress(range(len(text)), map(str.isalnum, text)))


def cluster_end(text: str, start: int) -> int:
    """Return the end of a character with its combining accents."""
    end = start + 1
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return end


def letter(byte: int, instead_of: str, alphabet: str) -> str:
    """Return a letter of the alphabet other than the given one, with its case."""
    new = alphabet[byte % len(alphabet)]
    if instead_of.isupper():
        new = new.upper()
    if new != instead_of:
        return new
    new = alphabet[(byte + 1) % len(alphabet)]
    return new.upper() if instead_of.isupper() and new.upper() != instead_of else new


def alphabet_of(text: str) -> str:
    """Return Latin letters for a text in ASCII, else the letters of the text itself.

    Latin letters are added where the text has too few.
    """
    if text.isascii():
        return LETTERS
    letters = {char for char in text if char.isalpha() and not char.isupper()}
    # With a single letter there is none to replace it by.
    return "".join(sorted(letters if len(letters) > 1 else letters.union(LETTERS)))
