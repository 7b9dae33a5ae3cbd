"""Pairs beyond a model's limit, read in parts.

The premise is read in windows of whole sentences, a long hypothesis in separate windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytest_evalstudio.models.windows import token_counts, windows
from pytest_evalstudio.text.sentences import split_sentences

Pair = tuple[str, str]
_STEPS = 16
"""Number of sizes of premise windows; hypotheses of similar length share windows of one size."""


class Readings:
    """Parts of (premise, hypothesis) pairs that a model reads.

    Args:
        tokenizer: of the model.
        room: tokens of a pair that the model reads, without special tokens; None for no limit.
    """

    def __init__(self, tokenizer: Any, room: int | None) -> None:
        self._tokenizer = tokenizer
        self._room = room
        self._counts: dict[str, int] = {}
        self._windows: dict[tuple[str, int], list[str]] = {}

    def plans(self, pairs: Iterable[Pair]) -> dict[Pair, list[list[Pair]]]:
        """Return the parts of each distinct pair, see `of`; the tokens of all texts are counted together."""
        distinct = list(dict.fromkeys(pairs))
        if self._room is not None:
            texts = list(dict.fromkeys(text for pair in distinct for text in pair))
            self._counts.update(zip(texts, token_counts(self._tokenizer, texts), strict=True))
        return {pair: self.of(pair) for pair in distinct}

    def of(self, pair: Pair) -> list[list[Pair]]:
        """Return a row per part of the hypothesis, with a pair per part of the premise.

        The hypothesis has one part, unless it fills more than half of the room.
        """
        premise, hypothesis = pair
        if self._room is None or self._count(premise) + self._count(hypothesis) <= self._room:
            return [[pair]]
        room = self._room
        parts = [part for part, _ in windows(self._tokenizer, hypothesis, room - room // 2)]
        rows = []
        for part in parts:
            step = max(1, room // _STEPS)
            limit = max(1, (room - self._count(part)) // step * step)
            rows.append([(window, part) for window in self._packed(premise, limit)])
        return rows

    def _packed(self, text: str, limit: int) -> list[str]:
        """Split a text into windows of whole sentences; longer sentences are split between words."""
        key = (text, limit)
        if key not in self._windows:
            self._windows[key] = self._pack(text, limit)
        return self._windows[key]

    def _pack(self, text: str, limit: int) -> list[str]:
        spans = split_sentences(text)
        if not spans or self._count(text) <= limit:
            return [text]
        counts = [self._count(text[start:end]) for start, end in spans]
        parts = []
        for first, last in _greedy(counts, limit):
            part = text[spans[first][0] : spans[last][1]]
            parts += [window for window, _ in windows(self._tokenizer, part, limit)]
        return parts

    def _count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = token_counts(self._tokenizer, [text])[0]
        return self._counts[text]


def _greedy(counts: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """Return runs of sentences, (first, last), with as many sentences as fit.

    One token is reserved for the separator of two sentences.

    >>> _greedy([3, 3, 9, 2], 8)
    [(0, 1), (2, 2), (3, 3)]
    """
    runs: list[tuple[int, int]] = []
    used = 0
    for index, count in enumerate(counts):
        if runs and used + 1 + count <= limit:
            runs[-1] = (runs[-1][0], index)
            used += 1 + count
        else:
            runs.append((index, index))
            used = count
    return runs
