"""Index of a context, by which the sentences of answers are compared with it."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from pytest_evalstudio.metrics.groundedness.opposites import is_negation
from pytest_evalstudio.metrics.grounding import (
    MAX_STEMMED_CHARS,
    stem_of_short,
    text_parts,
)
from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.folding import fold
from pytest_evalstudio.text.numbers import FigureIndex

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_MAX_POSTINGS = 50
"""Sentences that are remembered per word; bounds the time for a text that repeats a word."""
_RELATED = 3
_MAX_WORD_CHARS = MAX_STEMMED_CHARS


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
        figures: numbers, dates and expressions.
    """

    sentences: tuple[ContextSentence, ...]
    starts: tuple[int, ...]
    frequencies: dict[str, int]
    postings: dict[str, list[int]]
    pairs: frozenset[tuple[str, str]]
    phrases: frozenset[tuple[str, str, str]]
    figures: FigureIndex

    def has(self, keys: tuple[str, ...]) -> bool:
        """Return True if the context contains the stem, or any value, of a token."""
        return any(key in self.frequencies for key in keys)

    def has_name(self, word: str) -> bool:
        """Return True if a sentence has a word in lower case."""
        return any(word in sentence.words for sentence in self.sentences)

    def weights(self, keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
        """Return the inverse sentence frequency of tokens by their keys (BM25's idf).

        An unsupported token is the rarest.
        """
        size, frequencies = len(self.sentences), self.frequencies
        weights: dict[tuple[str, ...], float] = {}
        for key in dict.fromkeys(keys):
            count = frequencies.get(key[0], 0)
            if len(key) > 1:
                count = max(count, *(frequencies.get(stem, 0) for stem in key[1:]))
            # The 1 keeps words that most sentences have from a negative weight, as in Lucene.
            weights[key] = math.log(1 + (size - count + 0.5) / (count + 0.5))
        return weights

    def covered(
        self, tokens: Iterable[tuple[str, ...]], weights: Mapping[tuple[str, ...], float]
    ) -> list[tuple[int, float]]:
        """Return the sentences that share most with tokens, given by their keys, with the idf weight."""
        sums: defaultdict[int, float] = defaultdict(float)
        postings = self.postings
        for keys, repeats in Counter(tokens).items():
            weight = repeats * weights[keys]
            if len(keys) == 1:
                sentences: Iterable[int] = postings.get(keys[0], ())
            else:
                sentences = {sentence for key in keys for sentence in postings.get(key, ())}
            for sentence in sentences:
                sums[sentence] += weight
        least = min(sorted(sums.values())[-_RELATED:], default=0.0)
        best = [(index, total) for index, total in sums.items() if total >= least]
        return sorted(best, key=lambda item: (-item[1], item[0]))[:_RELATED]

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
    figures = FigureIndex()
    figures.read(text)
    sentences: list[ContextSentence] = []
    keys_of: list[dict[str, None]] = []
    pairs: set[tuple[str, str]] = set()
    for start, end in spans:
        parts, words = text_parts(text[start:end]), read_words(text[start:end])
        keys_of.append(dict.fromkeys(chain.from_iterable(part.all_keys for part in parts)))
        pairs.update(pairwise(chain.from_iterable(part.keys for part in parts)))
        sentences.append(
            ContextSentence(
                words=frozenset(words.words),
                stems=frozenset(words.stems),
                negations=words.negations,
            )
        )
    return ContextIndex(
        sentences=tuple(sentences),
        starts=tuple(start for start, _ in spans),
        frequencies=dict(Counter(chain.from_iterable(keys_of))),
        postings=_postings(keys_of),
        pairs=frozenset(pairs),
        phrases=frozenset(triples(_words(text))),
        figures=figures,
    )


def _postings(keys_of: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """Return the first sentences that contain each stem or value."""
    postings: defaultdict[str, list[int]] = defaultdict(list)
    for position, keys in enumerate(keys_of):
        for key in keys:
            postings[key].append(position)
    if len(keys_of) > _MAX_POSTINGS:
        return {key: positions[:_MAX_POSTINGS] for key, positions in postings.items()}
    return dict(postings)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordList:
    """All words of a text.

    Attributes:
        words: in lower case, with straight apostrophes.
        stems: stem of each word.
        negations: number of negations.
    """

    words: Sequence[str]
    stems: Sequence[str]
    negations: int


@cached_by_text
def read_words(text: str) -> WordList:
    """Return all words of a text.

    >>> read_words("It isn’t 5.25 percent.").words
    ['it', "isn't", '5', '25', 'percent']
    """
    words = _words(text)
    return WordList(
        words=words, stems=list(map(stem_of_short, words)), negations=sum(map(is_negation, words))
    )


def _words(text: str) -> list[str]:
    words: list[str] = _WORD.findall(fold(text).lower())
    if max(map(len, words), default=0) > _MAX_WORD_CHARS:
        words = [word[:_MAX_WORD_CHARS] for word in words]
    return words


def triples(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Return the triples of adjacent words."""
    return zip(words, words[1:], words[2:], strict=False)
