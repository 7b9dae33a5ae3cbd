"""Repetition within a text."""

from __future__ import annotations

import zlib
from typing import Any

MIN_SUBSTRING_CHARS = 10
"""Shorter repeats are normal language ("of the ", a doubled letter); a short unit in a loop makes long
repeats.
"""
_SHORT_TEXT = 1500


def compression_ratio(text: str) -> float:
    """Return the size of the text compressed by zlib (level 9) divided by its size in UTF-8.

    Args:
        text: a text that is not empty.

    Returns:
        Fraction, at most 1.0; higher is better (lower means more repetition).

    Raises:
        ValueError: if the text is empty.

    >>> compression_ratio("a" * 1000)
    0.017
    """
    raw = text.encode("utf-8", "surrogatepass")
    if not raw:
        raise ValueError("an empty text has no compression ratio")
    return min(1.0, len(zlib.compress(raw, 9)) / len(raw))


def repeat_share(text: str, repeated: str) -> float:
    """Return the share of a text that is made up of the occurrences of a substring, without overlap.

    Args:
        text: any text.
        repeated: a substring; "" for none.

    Returns:
        Fraction from 0.0 (no repetition) to 1.0; lower is better.

    >>> repeat_share("one two. one two. three", "one two. ")
    0.782608695652174
    """
    return len(repeated) * text.count(repeated) / len(text) if repeated and text else 0.0


def longest_repeat(text: str, minimum: int = MIN_SUBSTRING_CHARS) -> str:
    """Return the longest substring that occurs at least twice without overlap.

    Binary search over the length (every part of a repeated substring is repeated), with hashes of all windows
    of one length at a time: O(n log² n) time and O(n) memory, some seconds for a million characters.

    Args:
        text: at most a million characters, the limit of the engine.
        minimum: minimum length of a substring that counts.

    Returns:
        The substring, "" if there is none. Among several of the same length, the one whose second occurrence
        comes first.

    Source: Karp and Rabin, 1987, for the rolling hash.

    >>> longest_repeat("to be or not; to be or not!")
    'to be or not'
    """
    low, high = minimum, len(text) // 2
    if high < minimum or (len(text) <= _SHORT_TEXT and not _has_repeat(text, minimum)):
        return ""
    windows = None if len(text) <= _SHORT_TEXT else _Windows(text)
    best = ""
    while low <= high:
        length = (low + high) // 2
        start = _first_repeat(text, length) if windows is None else windows.first_repeat(length)
        if start >= 0:
            best = text[start : start + length]
            low = length + 1
        else:
            high = length - 1
    return best


def _has_repeat(text: str, length: int) -> bool:
    """Return whether any substring of that length occurs twice, with or without overlap."""
    count = len(text) - length + 1
    return len({text[start : start + length] for start in range(count)}) < count


def _first_repeat(text: str, length: int) -> int:
    """Return the start of the first repeated occurrence of any substring of that length, -1 for none."""
    positions: dict[str, int] = {}
    for start in range(len(text) - length + 1):
        if start - positions.setdefault(text[start : start + length], start) >= length:
            return start
    return -1


class _Windows:
    """Polynomial hashes of the windows of a text, modulo 2**64; a match is verified in the text."""

    _BASE = 0x9E3779B97F4A7C15

    def __init__(self, text: str) -> None:
        import numpy as np

        self._text = text
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
        codes = (codes + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
        codes ^= codes >> np.uint64(29)
        powers = np.full(len(text), self._BASE, dtype=np.uint64)
        powers[0] = 1
        powers = np.multiply.accumulate(powers)
        inverse = np.full(len(text), pow(self._BASE, -1, 1 << 64), dtype=np.uint64)
        inverse[0] = 1
        self._inverse: Any = np.multiply.accumulate(inverse)
        self._sums: Any = np.concatenate([np.zeros(1, dtype=np.uint64), np.add.accumulate(codes * powers)])

    def first_repeat(self, length: int) -> int:
        """Return the start of the first repeated occurrence of any substring of that length, -1 for none."""
        import numpy as np

        count = len(self._text) - length + 1
        hashes = (self._sums[length:] - self._sums[:count]) * self._inverse[:count]
        ranked = np.sort(hashes)
        if not np.any(ranked[1:] == ranked[:-1]):
            return -1  # a sort of values takes a tenth of the time of the stable order that is needed below
        order = np.argsort(hashes, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
        firsts = np.repeat(order[starts], np.diff(np.append(starts, count)))
        candidates = np.sort(order[order - firsts >= length])
        if not len(candidates):
            return -1
        second = int(candidates[0])
        part = self._text[second : second + length]
        return second if self._text.find(part) <= second - length else -1
