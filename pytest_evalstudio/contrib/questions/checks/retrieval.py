"""Sentences of documents that a question can be answered from, by their words."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from pytest_evalstudio.contrib.questions.words import content_words, word_table
from pytest_evalstudio.stats.types import Floats

ANSWERED = 0.9
"""Minimum share of a question's word weights in a sentence that answers it."""
_CHOICES = re.compile(r"\sA\)\s.*$", re.DOTALL)
_LONGEST_WORD = 40
SECTION = "Under “"
"""Beginning of a question that names its section."""
_TITLE = re.compile(rf"^(?:According to “|{SECTION})[^”]*”(?: in “[^”]*”)?, ")


def without_choices(question: str) -> str:
    """Return a question without the choices that it offers."""
    return _CHOICES.sub("", question)


def bare_question(question: str) -> str:
    """Return a question without choices and without the titles of its document and section.

    >>> bare_question("According to “Fees”, how much is a draft? A) £5 B) £6")
    'how much is a draft?'
    """
    return without_choices(_TITLE.sub("", question))


def stems(text: str) -> list[str]:
    """Return the stems of the content words of a text.

    >>> stems("Receipts are stored for seven years.")
    ['receipt', 'store', 'seven', 'year']
    """
    return [_stem(word) for word in content_words(text)]


def query_terms(question: str) -> list[str]:
    """Return the distinct stems of a question without question words, choices and quoted title."""
    words = stems(bare_question(question))
    return list(dict.fromkeys([word for word in words if word not in _question_words()] or words))


@functools.cache
def _question_words() -> frozenset[str]:
    """Return the words of question phrases, and their stems."""
    words = word_table("question words")
    return words | frozenset(map(_stem, words))


@functools.cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    stem: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord
    return stem


@functools.lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    # The stemmer takes time that is quadratic in the length of a word.
    return _stemmer()(word) if len(word) <= _LONGEST_WORD else word


class SentenceIndex:
    """An inverted index of sentences by word stems, weighted by inverse document frequency.

    Args:
        sentences: of all documents.

    Source: Spärck Jones, 1972 (inverse document frequency).
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = tuple(sentences)
        postings: dict[str, list[int]] = {}
        for index, sentence in enumerate(self.sentences):
            for word in set(stems(sentence)):
                postings.setdefault(word, []).append(index)
        self._postings = {word: np.array(indices, dtype=np.int64) for word, indices in postings.items()}

    def weight(self, word: str) -> float:
        """Return the weight of a word stem; the greatest for a word that no sentence has."""
        count = len(self._postings.get(word, ()))
        # 0.5: a word that no sentence has must not divide by zero.
        return math.log(1 + len(self.sentences) / (count + 0.5))

    def shares(self, question: str) -> Floats:
        """Return for each sentence the share of the weights of the question's words that it has."""
        words = query_terms(question)
        total = math.fsum(self.weight(word) for word in words)
        shares: Floats = np.zeros(len(self.sentences))
        for word in words:
            if word in self._postings:
                shares[self._postings[word]] += self.weight(word)
        return shares / total if total else shares

    def share(self, question: str, text: str) -> float:
        """Return the share of the weights of the question's words that a text has."""
        weights = {word: self.weight(word) for word in query_terms(question)}
        words = set(stems(text))
        total = sum(weights.values())
        return sum(weight for word, weight in weights.items() if word in words) / total if total else 0.0
