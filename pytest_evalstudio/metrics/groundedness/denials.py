"""Faults that one word makes: a negation or opposite that the context denies, an unknown name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_evalstudio.metrics.groundedness.opposites import opposites
from pytest_evalstudio.metrics.grounding import tokens_of
from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.folding import fold

MIN_COVERAGE = 0.75
"""Share of the words of a clause that a sentence must have to speak of the same thing."""
_NEGATED_WORDS = 2
_NEGATION = re.compile(
    r"\b(?:not(?! only| just| more| less)|never|no(?! more| less| later| longer than)|cannot|neither|nor|without"  # noqa: E501
    r"|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"; |, (?:and|but|or|while|whereas) | (?:but|whereas) ")
_END = re.compile(r"[.,;:!?()]")


@dataclass(frozen=True, slots=True)
class Clause:
    """Content of a clause or sentence.

    Attributes:
        words: stems of its content words.
        denied: stems of those that a negation precedes.
    """

    words: frozenset[str]
    denied: frozenset[str]

    def contradicts(self, other: Clause) -> bool:
        """Return True if one denies a word that the other states, or has the opposite of one of its words."""
        shared = self.words & other.words
        if not self.denied & other.denied and any(
            (word in self.denied) != (word in other.denied) for word in shared & (self.denied | other.denied)
        ):
            return True
        return any(
            not other.words.isdisjoint(opposites(word)) and word not in self.denied
            for word in self.words - other.words
        )

    def coverage(self, other: Clause) -> float:
        """Return the share of the words that another clause has, opposites of them included."""
        covered = sum(
            word in other.words or not other.words.isdisjoint(opposites(word)) for word in self.words
        )
        return covered / len(self.words)


@cached_by_text
def read_clause(text: str) -> Clause:
    """Return the content of a clause or sentence.

    >>> clause = read_clause("Parcels over 30 kg are not accepted.")
    >>> sorted(clause.words), sorted(clause.denied)
    (['30', 'accept', 'kg', 'parcel'], ['accept'])
    """
    tokens = tokens_of(text)
    denied: set[str] = set()
    for negation in _NEGATION.finditer(text):
        end = _END.search(text, negation.end())
        last = end.start() if end else len(text)
        after = [token.keys[0] for token in tokens if negation.end() <= token.start < last]
        denied.update(after[:_NEGATED_WORDS])
    return Clause(frozenset(token.keys[0] for token in tokens), frozenset(denied))


_NAME = re.compile(r"(?<=[a-z,;] )[^\W\d_a-z][a-zà-ÿ][\w'’-]*")
_WORD = re.compile(r"[^\W_]+")


@cached_by_text
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in plain characters, without regard to case."""
    return frozenset(_WORD.findall(fold(text).casefold()))


def unknown_names(sentence: str, is_known: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield the words with a capital within a sentence that the sources do not have.

    The first word of a sentence, abbreviations, and what follows a hyphen in lower case are no names.

    Args:
        sentence: of an answer.
        is_known: whether a word in lower case is in the sources.

    >>> text = "It flows into the Black Sea."
    >>> [text[a:b] for a, b in unknown_names(text, words_of("It flows into the Baltic Sea.").__contains__)]
    ['Black']
    """
    for name in _NAME.finditer(sentence):
        for part in _WORD.finditer(sentence, name.start(), name.end()):
            word = fold(part[0]).casefold()
            if not part[0][0].isupper() or len(word) == 1:
                continue
            if not (is_known(word) or is_known(word.removesuffix("s"))):
                yield part.span()


def denied_clauses(sentence: str, sources: Sequence[Clause]) -> Iterator[str]:
    """Yield the clauses of a sentence that the sentence of the sources which has most of their words denies.

    Args:
        sentence: of an answer.
        sources: sentences of the context that share most words with the sentence.
    """
    for text in _CLAUSE.split(sentence):
        clause = read_clause(text)
        if len(clause.words) < 2:
            continue
        rated = [(clause.coverage(source), not clause.contradicts(source)) for source in sources]
        # Of sentences with the same coverage, one that agrees comes last.
        coverage, agrees = max(rated, default=(0.0, True))
        if coverage >= MIN_COVERAGE and not agrees:
            yield text
