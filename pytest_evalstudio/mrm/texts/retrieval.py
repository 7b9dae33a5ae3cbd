"""Sentences of documents that a question can be answered from, ranked by their words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.mrm.texts.verbs import forms
from pytest_evalstudio.mrm.texts.words import content_words, word_set
from pytest_evalstudio.stats.types import Floats

_ASKING = word_set(
    """
    how much many long often what when where who why which percentage amount rate according mean meant
    yes no temperature distance speed torque should must does do did is are was were will can may least
    most up within period day week month year hour minute working in for of to at after by
    """
)
"""Words of question phrases that the answering sentence need not have."""
_QUOTED_TITLE = re.compile(r"^According to “[^”]*”, ")
_CHOICES = re.compile(r"\sA\)\s.*$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A sentence with the share of the question's word weights that it has.

    Attributes:
        index: of the sentence.
        share: 0.0 to 1.0.
    """

    index: int
    share: float


class SentenceIndex:
    """An inverted index of sentences by word stems, weighted by inverse document frequency.

    Args:
        sentences: of all documents.
        headings: text before each sentence that belongs to it, e.g. its document's title; default: none.

    Source: Spärck Jones, 1972 (inverse document frequency).
    """

    def __init__(self, sentences: Sequence[str], headings: Sequence[str] = ()) -> None:
        self.sentences = tuple(sentences)
        extra = headings or [""] * len(self.sentences)
        postings: dict[str, list[int]] = {}
        for index, (sentence, heading) in enumerate(zip(self.sentences, extra, strict=True)):
            for word in set(stems(sentence)) | set(stems(heading)):
                postings.setdefault(word, []).append(index)
        self._postings = {word: np.array(indices, dtype=np.int64) for word, indices in postings.items()}
        self._lengths = np.array(
            [len(set(stems(sentence))) or 1 for sentence in self.sentences], dtype=np.float64
        )

    def weight(self, word: str) -> float:
        """Return the weight of a word stem; the greatest for a word that no sentence has."""
        held = len(self._postings.get(word, ()))
        return math.log(1 + len(self.sentences) / (held + 0.5))

    def shares(self, question: str) -> Floats:
        """Return for each sentence the share of the weights of the question's words that it has."""
        words = asked_words(question)
        total = math.fsum(self.weight(word) for word in words)
        shares: Floats = np.zeros(len(self.sentences))
        for word in words:
            if word in self._postings:
                shares[self._postings[word]] += self.weight(word)
        return shares / total if total else shares

    def best(self, question: str, count: int = 1) -> list[Match]:
        """Return the best sentences, those with fewer words first where they are equal."""
        shares = self.shares(question)
        order = np.lexsort((self._lengths, -np.round(shares, 9)))[:count]
        return [Match(index=int(index), share=float(shares[index])) for index in order]


def stems(text: str) -> list[str]:
    """Return the content words of a text, verbs in their base form.

    >>> stems("Receipts are stored for seven years.")
    ['receipt', 'store', 'seven', 'year']
    """
    return [_stem(word) for word in content_words(text)]


def asked_words(question: str) -> list[str]:
    """Return the distinct stems of a question without question words, choices and quoted title."""
    plain = _CHOICES.sub("", _QUOTED_TITLE.sub("", question))
    words = [word for word in stems(plain) if word not in _ASKING]
    return list(dict.fromkeys(words or stems(plain)))


def _stem(word: str) -> str:
    known = forms(word)
    return next(iter(known.values())) if known else word
