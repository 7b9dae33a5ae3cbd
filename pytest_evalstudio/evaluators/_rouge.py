"""ROUGE figures of pairs of texts, for the evaluators that need them."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any


class Stems:
    """Words of texts as rouge-score sees them, each text and each word worked on once.

    One object serves one batch.
    """

    def __init__(self) -> None:
        self._words: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        """Lower-case stems of a text: runs of Latin letters and digits, of more than three characters
        stemmed.
        """
        known = self._words.get(text)
        if known is None:
            from rouge_score.tokenize import tokenize

            known = self._words[text] = tuple(tokenize(text, _stemmer()))
        return known


class _CachedStemmer:
    """NLTK's Porter stemmer that stems a word once."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self.stem = functools.lru_cache(maxsize=65_536)(PorterStemmer().stem)


@functools.lru_cache(maxsize=1)
def _stemmer() -> Any:
    return _CachedStemmer()


def rouge_n(expected: Sequence[str], answer: Sequence[str], n: int) -> float:
    """F1 of the n-grams that two texts share, repeats counted.

    Args:
        expected, answer: words; the measure is symmetric.

    Returns:
        A fraction, 0.0 to 1.0; 0.0 where either text is shorter than n words.

    Source: Lin, 2004; the same as the rouge-score package.

    >>> round(rouge_n("the cat sat".split(), "the cat ran".split(), 2), 2)
    0.5
    """
    ours, theirs = (
        Counter(zip(*(words[start:] for start in range(n)), strict=False)) for words in (answer, expected)
    )
    return _f1((ours & theirs).total(), len(expected) - n + 1, len(answer) - n + 1)


def rouge_l(expected: Sequence[str], answer: Sequence[str]) -> float:
    """F1 of the longest common subsequence of words (not the summary-level variant).

    Args:
        expected, answer: words; the measure is symmetric.

    Returns:
        A fraction, 0.0 to 1.0.

    Source: Lin, 2004; the same as the rouge-score package.

    >>> round(rouge_l("police killed the gunman".split(), "the gunman killed police".split()), 2)
    0.5
    """
    return _f1(common_subsequence(expected, answer), len(expected), len(answer))


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Source: Hyyrö, 2004: a row of the table is one integer, so a pair of long texts takes milliseconds, not
        seconds.

    >>> common_subsequence("abcbdab", "bdcaba")
    4
    """
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        at = places.get(word)
        if at is not None:
            matched = row & at
            row = ((row + matched) | (row - matched)) & full
    return len(first) - row.bit_count()


def _f1(shared: int, expected: int, answer: int) -> float:
    precision, recall = shared / max(answer, 1), shared / max(expected, 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0
