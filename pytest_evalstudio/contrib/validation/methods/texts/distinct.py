"""Sets of words that are not too near each other, without comparing all with all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pytest_evalstudio.contrib.validation.methods.texts.words import jaccard

# The product of limit and size may be just above a whole number, which `ceil` would raise by one.
_NOISE = 1e-9


class DistinctSets:
    """Keep sets whose Jaccard index with every kept set is at most a limit.

    Exact: two sets beyond the limit share one of their rarest words, so many that too few are left without
        them (prefix filter); only sets that
    do are compared.

    Args:
        most: the limit, 0.0 to 1.0.
        expected: all sets that may come, for knowing which words are rare.

    Source: Chaudhuri, Ganti and Kaushik, 2006; Bayardo, Ma and Srikant, 2007 (All-Pairs).

    >>> distinct = DistinctSets(0.5, [])
    >>> [distinct.keep(frozenset(words.split())) for words in ("a fee", "a card fee", "a card")]
    [True, False, True]
    """

    def __init__(self, most: float, expected: Iterable[frozenset[str]]) -> None:
        self._most = most
        self._counts = Counter(word for words in expected for word in words)
        self._kept: dict[str, list[frozenset[str]]] = {}

    def keep(self, words: frozenset[str]) -> bool:
        """Keep a set unless it is too similar to one that is kept; report whether it is."""
        telling = self._telling(words)
        near = {other for word in telling for other in self._kept.get(word, ())}
        if any(jaccard(words, other) > self._most for other in near):
            return False
        for word in telling:
            self._kept.setdefault(word, []).append(words)
        return True

    def _telling(self, words: frozenset[str]) -> list[str]:
        """Return the rarest words, one of which every set beyond the limit has; "" for an empty set."""
        if not words:
            return [""]
        shared = math.ceil(self._most * len(words) - _NOISE)
        return sorted(words, key=lambda word: (self._counts[word], word))[: len(words) - shared + 1]
