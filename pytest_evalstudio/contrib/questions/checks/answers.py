"""Checks of an answer that people expect to their own question, against the statements of the documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.checks.retrieval import (
    SentenceIndex,
    bare_question,
    query_terms,
    stems,
)
from pytest_evalstudio.contrib.questions.quantities import Quantity, pattern, quantities, unit_of
from pytest_evalstudio.contrib.questions.words import word_set

# "No one", "no more" and "no longer" begin a statement, not an answer of no.
_YES_OR_NO = re.compile(r"(?i)^\W*(?P<lead>yes|no)\b(?!\s(?:one|more|longer))[\s,.;:–—-]*")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_CODE = re.compile(r"[A-Z]+[a-z]*[A-Z]\w*|[A-Z]+\d\w*")
_NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|except|excluded|excludes|unless"
    r"|only|instead|forbidden|prohibited)\b|n['’]t\b"
)
_PRONOUN = re.compile(r"(?:It|They|He|She|This|These)\b")
"""Subject of a statement about the subject of the statement before."""
_TITLES = word_set("dr mr mrs ms prof professor sir lady lord")
_MIN_WORDS_OF_ANSWER = 3
"""Fewest content words of an answer in words that must be in the documents."""
_NEIGHBOUR = 0.3
"""Weight of the words of a question that only the next or previous statement has: "her successor is …"."""
_PARAPHRASE = 0.5
"""Weight of a question's words that the documents do not have; people ask in words of their own."""
_SURE = 0.6
"""Minimum share of a question in the best statement before an answer from another one is doubted."""
_MAX_OF_BEST, _MAX_OF_CELL, _MAX_OF_SENTENCE = 0.6, 0.95, 0.3
"""Share of the best statement's fit below which statements with the expected answer do not fit: names and
quantities in sentences, those in cells of a table, whose other words are the same, and other words.
"""
_MIN_TERMS = 2
_RESTATED, _CONFIRMED = 0.75, 0.95
"""Minimum share of a question in a statement that denies it, and in one that confirms it."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """Names and quantities of a text, by which answers are compared."""

    names: frozenset[str]
    quantities: tuple[Quantity, ...]

    def __bool__(self) -> bool:
        return bool(self.names or self.quantities)


class AnswerChecks:
    """Checks of questions that people have written: their wording is free, and no evidence is quoted.

    Args:
        parts: the sentences of the documents, in order; a table is a part with a statement for each cell.
    """

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self._statements: list[str] = []
        self._cells: set[int] = set()
        lead = ""
        for part in parts:
            start, first = len(self._statements), part[0]
            if len(part) > 1:
                self._cells.update(range(start, start + len(part)))
            # An item of a list means nothing without its lead: "Staff must not: tell anyone their password".
            is_item = bool(lead) and len(part) == 1 and not (first[:1].isupper() and first.endswith("."))
            self._statements += [f"{lead} {first}"] if is_item else part
            lead = lead if is_item else first * first.endswith(":")
        self._text = "\n".join(self._statements)
        self._word_sets = [frozenset(_WORD.findall(statement)) for statement in self._statements]
        words = frozenset().union(*self._word_sets)
        self._capitals = frozenset(word for word in words if word[0].isupper() and word.lower() not in words)
        self._names = self._capitals & self._inner_words()
        self._index = SentenceIndex(self._statements)
        self._stems: list[frozenset[str]] = []
        for statement in self._statements:
            subject = self._stems[-1] if self._stems and _PRONOUN.match(statement) else frozenset()
            self._stems.append(subject | set(stems(statement)))
        self._words = frozenset().union(*self._stems)
        self._near = [
            # The neighbours of a cell are other values of its row, not words about it.
            frozenset().union(*self._stems[max(0, at - 1) : at + 2]) if at not in self._cells else frozenset()
            for at in range(len(self._stems))
        ]

    def _inner_words(self) -> set[str]:
        """Return the words of statements but their first ones, which have a capital in any case."""
        return {
            word
            for text in self._statements
            if text.endswith((".", ",", ";")) or text[:1].islower() or ": " in text
            for word in _WORD.findall(text)[1:]
        }

    def support(self, answer: str) -> float:
        """Return 0.0 if a quantity or a name of the answer is nowhere in the documents, else 1.0."""
        stated = _YES_OR_NO.sub("", answer, count=1)
        found = all(re.search(pattern(quantity.text), self._text) for quantity in quantities(stated))
        lowered = self._text.casefold()
        codes = {word for word in _WORD.findall(stated) if _CODE.fullmatch(word)}
        inner = {word for word in _WORD.findall(stated)[1:] if word[0].isupper()}
        return float(found and all(word.casefold() in lowered for word in codes | inner))

    def uniqueness(self, question: str, answer: str) -> float:
        """Return 0.0 if the documents answer the question otherwise, else 1.0.

        Another statement then fits the question clearly better than all statements with the expected answer,
        and has a name or quantity of the same kind; or a statement denies what the answer affirms.
        """
        lead = _YES_OR_NO.match(answer)
        stated = answer[lead.end() :] if lead else answer
        if lead and self._is_denied(question, is_yes=lead["lead"].lower() == "yes"):
            return 0.0
        return float(not self._has_rival(question, stated))

    def _is_denied(self, question: str, *, is_yes: bool) -> bool:
        # With a negation in the question, one in the statement shows nothing.
        if _NEGATION.search(question):
            return False
        shares = self._index.shares(question)
        best = int(shares.argmax()) if len(shares) else -1
        if best < 0 or shares[best] < (_RESTATED if is_yes else _CONFIRMED):
            return False
        return bool(_NEGATION.search(self._statements[best])) == is_yes

    def _has_rival(self, question: str, answer: str) -> bool:
        fits = self._fits(question)
        query = set(query_terms(bare_question(question)))
        close = {at for at, present in enumerate(self._stems) if len(query & present) >= _MIN_TERMS}
        terms = self._terms(answer, question, is_answer=True)
        holders = self._holders(terms)
        if self._is_beaten(
            fits,
            holders,
            {at for at in close if self._is_alike(terms, self._statements[at], question)},
            _MAX_OF_BEST,
        ):
            return True
        words = set(stems(answer)) - set(stems(question))
        if len(words) < _MIN_WORDS_OF_ANSWER:
            return False
        holders = {at for at, present in enumerate(self._stems) if 2 * len(words & present) >= len(words)}
        return self._is_beaten(fits, holders, close, _MAX_OF_SENTENCE)

    def _is_beaten(
        self, fits: Sequence[float], holders: set[int], rivals: set[int], max_of_best: float
    ) -> bool:
        """Report whether a rival fits a question clearly better than all statements with the answer."""
        if not holders:
            return False
        best = max(holders, key=lambda at: fits[at])
        return any(
            fits[at] >= _SURE
            and fits[best] < fits[at] * (_MAX_OF_CELL if {at, best} <= self._cells else max_of_best)
            for at in rivals - holders
        )

    def _fits(self, question: str) -> list[float]:
        """Return the share of the question that each statement has; half for words of its neighbours."""
        weights = {
            word: self._index.weight(word) * (1.0 if word in self._words else _PARAPHRASE)
            for word in query_terms(bare_question(question))
        }
        total = sum(weights.values())
        if len(weights) < _MIN_TERMS:
            return [0.0] * len(self._stems)
        return [
            sum(
                weight * (1.0 if word in present else _NEIGHBOUR * (word in near))
                for word, weight in weights.items()
            )
            / total
            for present, near in zip(self._stems, self._near, strict=True)
        ]

    def _terms(self, text: str, question: str, *, is_answer: bool = False) -> _Terms:
        """Return names and quantities of a text that the question does not state.

        Each word of an answer that the documents only have with a capital is a name.
        """
        hits = tuple(hit for hit in quantities(text) if not re.search(pattern(hit.text), question))
        words = set(_WORD.findall(text)) - set(_WORD.findall(question))
        names = words & (self._capitals if is_answer else self._names)
        return _Terms(frozenset(name for name in names if name.lower() not in _TITLES), hits)

    def _holders(self, terms: _Terms) -> set[int]:
        """Return the statements with a name or quantity of an answer."""
        patterns = [re.compile(pattern(quantity.text)) for quantity in terms.quantities]
        return {
            at
            for at, (statement, words) in enumerate(zip(self._statements, self._word_sets, strict=True))
            if terms.names & words or any(compiled.search(statement) for compiled in patterns)
        }

    def _is_alike(self, terms: _Terms, statement: str, question: str) -> bool:
        """Report whether a statement has other names or quantities of the kind that the answer has."""
        others = self._terms(statement, question)
        kinds = {(quantity.kind, unit_of(quantity.text)) for quantity in terms.quantities}
        if kinds & {(quantity.kind, unit_of(quantity.text)) for quantity in others.quantities}:
            return True
        return bool(terms.names and others.names)
