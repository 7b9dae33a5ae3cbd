"""Index of a context, by which the sentences of answers are compared with it."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_evalstudio.metrics.groundedness.opposites import is_negation
from pytest_evalstudio.metrics.grounding import Token, stem, tokens_of

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MAX_POSTINGS = 50
"""Sentences that are remembered per word; bounds the time for a text that repeats a word."""
_RELATED = 3
_MAX_WORD_CHARS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSentence:
    """Sentence of a context.

    Attributes:
        words: all words in lower case.
        stems: stems of all words.
        negations: number of negations.
    """

    words: frozenset[str]
    stems: frozenset[str]
    negations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextIndex:
    """Words, phrases and sentences of a context.

    Attributes:
        sentences: sentences in order.
        starts: index of the first character of each sentence.
        frequencies: number of sentences that contain each stem or value.
        postings: indices of the first sentences that contain it.
        pairs: pairs of adjacent content words.
        phrases: triples of adjacent words.
    """

    sentences: tuple[ContextSentence, ...]
    starts: tuple[int, ...]
    frequencies: dict[str, int]
    postings: dict[str, list[int]]
    pairs: frozenset[tuple[str, str]]
    phrases: frozenset[tuple[str, str, str]]

    def has(self, token: Token) -> bool:
        """Return True if the context contains the stem, or any value, of a token."""
        return any(key in self.frequencies for key in token.keys)

    def weights(self, keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
        """Return the inverse sentence frequency of tokens by their keys (BM25's idf).

        An unsupported token is the rarest.
        """
        size = len(self.sentences)
        counts = {
            key: max((self.frequencies.get(stem, 0) for stem in key), default=0)
            for key in dict.fromkeys(keys)
        }
        return {key: math.log(1 + (size - count + 0.5) / (count + 0.5)) for key, count in counts.items()}

    def covered(self, tokens: Sequence[Token]) -> list[tuple[int, float]]:
        """Return the sentences that share most with the tokens, with the idf weight, best first."""
        weights: defaultdict[int, float] = defaultdict(float)
        repeats = Counter(token.keys for token in tokens)
        for keys, weight in self.weights(repeats).items():
            for sentence in {sentence for key in keys for sentence in self.postings.get(key, ())}:
                weights[sentence] += repeats[keys] * weight
        return sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_RELATED]

    def sentences_at(self, positions: Iterable[int]) -> list[int]:
        """Return the sentences in which most of the character positions lie, the most frequent first."""
        if not self.starts:
            return []
        counts = Counter(max(0, bisect_right(self.starts, position) - 1) for position in positions)
        return [index for index, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_RELATED]]


def index_context(text: str, spans: Sequence[tuple[int, int]]) -> ContextIndex:
    """Index a context.

    Args:
        text: the whole context.
        spans: start and end of its sentences.

    >>> index = index_context("Rates rose. Banks lend.", [(0, 11), (12, 23)])
    >>> index.frequencies, len(index.sentences)
    ({'rate': 1, 'rose': 1, 'bank': 1, 'lend': 1}, 2)
    """
    sentences: list[ContextSentence] = []
    frequencies: Counter[str] = Counter()
    postings: defaultdict[str, list[int]] = defaultdict(list)
    pairs: set[tuple[str, str]] = set()
    for position, (start, end) in enumerate(spans):
        tokens, words = tokens_of(text[start:end]), words_of(text[start:end])
        keys = dict.fromkeys(key for token in tokens for key in token.keys)
        for key in keys:
            frequencies[key] += 1
            if len(postings[key]) < _MAX_POSTINGS:
                postings[key].append(position)
        pairs.update(key_pairs(tokens))
        sentences.append(
            ContextSentence(
                words=frozenset(words),
                stems=frozenset(map(stem, words)),
                negations=count_negations(words),
            )
        )
    return ContextIndex(
        sentences=tuple(sentences),
        starts=tuple(start for start, _ in spans),
        frequencies=dict(frequencies),
        postings=dict(postings),
        pairs=frozenset(pairs),
        phrases=frozenset(triples(words_of(text))),
    )


def words_of(text: str) -> list[str]:
    """Return all words of a text in lower case, with straight apostrophes.

    >>> words_of("It isn’t 5.25 percent.")
    ['it', "isn't", '5', '25', 'percent']
    """
    return [word[:_MAX_WORD_CHARS].replace("’", "'") for word in _WORD.findall(text.lower())]


def key_pairs(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Return the pairs of adjacent content words and numbers."""
    return [(first.keys[0], second.keys[0]) for first, second in pairwise(tokens)]


def triples(words: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the triples of adjacent words."""
    return list(zip(words, words[1:], words[2:], strict=False))


def count_negations(words: Collection[str]) -> int:
    """Return the number of negations among words in lower case."""
    return sum(map(is_negation, words))
