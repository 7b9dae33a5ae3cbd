"""Repetition within a text."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

MIN_SUBSTRING_CHARS = 10
"""Shorter repeats are normal language ("of the ", a doubled letter); a short unit in a loop makes long
repeats.
"""
_SHORT_TEXT = 1500
_GROWTH = 4
"""Factor of the length while repeats are found; most texts have none of four times the minimum."""


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

    Every part of a repeated substring is repeated. The length is therefore multiplied while there is a
    repeat, then searched by halves, and only starts of shorter repeats are compared again: O(n log² n) time
    and O(n) memory, about half a second for a million characters.

    Args:
        text: at most a million characters, the limit of the engine.
        minimum: minimum length of a substring that counts.

    Returns:
        The substring, "" if there is none. Among several of the same length, the one whose second occurrence
        comes first.

    Source: Karp and Rabin, 1987, for the rolling hash of long texts.

    >>> longest_repeat("to be or not; to be or not!")
    'to be or not'
    """
    low, high = minimum, len(text) // 2
    windows = _Slices(text) if len(text) <= _SHORT_TEXT else _Hashes(text)
    best, length, is_growing = "", low, True
    while low <= high:
        start = windows.first_repeat(length)
        if start >= 0:
            best = text[start : start + length]
            low = max(length + 1, _extended(text, best))
        else:
            high, is_growing = length - 1, False
        length = min(max(low, _GROWTH * length), high) if is_growing else (low + high) // 2
    return best


def _extended(text: str, repeated: str) -> int:
    """Return the length of some repeat that begins with a shorter one, so that loops need few steps."""
    first, second = text.find(repeated), text.find(repeated, len(text) // 2)
    low, high = len(repeated), min(second - first, len(text) - second)
    if second < 0 or high <= low:
        return low
    while low < high:
        length = (low + high + 1) // 2
        if text[first : first + length] == text[second : second + length]:
            low = length
        else:
            high = length - 1
    return low


class _Slices:
    """Windows of a short text, as strings."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: Sequence[int] = range(len(text))

    def first_repeat(self, length: int) -> int:
        """Return the start of the first repeated occurrence of any substring of that length, -1 for none.

        After a repeat, only longer substrings may be asked for.
        """
        text, last = self._text, len(self._text) - length
        starts = [start for start in self._starts if start <= last]
        parts = [text[start : start + length] for start in starts]
        if len(set(parts)) == len(parts):
            return -1
        counts = Counter(parts)
        repeated = [start for start, part in zip(starts, parts, strict=True) if counts[part] > 1]
        firsts: dict[str, int] = {}
        for start in repeated:
            if start - firsts.setdefault(text[start : start + length], start) >= length:
                self._starts = repeated
                return start
        return -1


class _Hashes:
    """Windows of a long text, as polynomial hashes modulo 2**64; a match is verified in the text."""

    # 2**64 divided by the golden ratio; odd, so that it has an inverse modulo 2**64
    _BASE = 0x9E3779B97F4A7C15

    def __init__(self, text: str) -> None:
        import numpy as np

        self._text = text
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
        # Code points of a text differ in few bits; this spreads them over all of a hash.
        codes = (codes + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
        codes ^= codes >> np.uint64(29)
        powers = np.full(len(text), self._BASE, dtype=np.uint64)
        powers[0] = 1
        powers = np.multiply.accumulate(powers)
        inverse = np.full(len(text), pow(self._BASE, -1, 1 << 64), dtype=np.uint64)
        inverse[0] = 1
        self._inverse: Any = np.multiply.accumulate(inverse)
        self._sums: Any = np.concatenate([np.zeros(1, dtype=np.uint64), np.add.accumulate(codes * powers)])
        self._all = np.arange(len(text))
        self._starts: Any = None  # None: all

    def first_repeat(self, length: int) -> int:
        """Return the same as that of `_Slices`."""
        import numpy as np

        starts, hashes = self._hashes(length)
        ranked = np.sort(hashes)
        if not np.any(ranked[1:] == ranked[:-1]):
            return -1  # a sort of values takes less time than the stable order that is needed below
        order = np.argsort(hashes, kind="stable")
        groups = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        sizes = np.diff(np.append(groups, len(order)))
        firsts = starts[order[groups]]
        candidates = starts[order]
        candidates = candidates[candidates - np.repeat(firsts, sizes) >= length]
        if not len(candidates):
            return -1
        second = int(candidates.min())
        if self._text.find(self._text[second : second + length]) > second - length:
            return -1
        repeated = order[np.repeat(sizes > 1, sizes)]
        if len(repeated) < len(starts) / 2:
            self._starts = np.sort(starts[repeated])
        return second

    def _hashes(self, length: int) -> tuple[Any, Any]:
        """Return the starts to be compared, and the hash of the window of each."""
        starts, last = self._starts, len(self._text) - length
        if starts is None:  # slices take a fifth of the time of indices
            return self._all[: last + 1], (self._sums[length:] - self._sums[: last + 1]) * self._inverse[
                : last + 1
            ]
        starts = starts[starts <= last]
        return starts, (self._sums[starts + length] - self._sums[starts]) * self._inverse[starts]
