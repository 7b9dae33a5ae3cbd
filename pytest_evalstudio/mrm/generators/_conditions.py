"""Conditions of generated test cases."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_evalstudio.formats.condition import Regexp, parse_condition
from pytest_evalstudio.mrm.texts.quantities import pattern, quantities

FEW_WORDS = 4
"""Maximum number of words of an answer that a right answer must contain."""
MORE_WORDS = 12
"""Maximum number of words of an answer with a single quantity."""
_SAID = re.compile(r"(Yes|No)(?:[.,;:!]|$)", re.IGNORECASE)
_CHOSEN = re.compile(r"([A-F])\)\s")


def says(quantity: str) -> str:
    """The answer names a quantity, however it is written."""
    return str(Regexp(pattern(quantity)))


def says_words(words: Iterable[str]) -> str:
    """The answer has words that begin so, in any case."""
    return " AND ".join(str(Regexp(rf"(?i)\b{re.escape(_stem(word))}")) for word in words)


def begins_with(word: str) -> str:
    """The answer's first word, in any case."""
    return str(Regexp(rf"(?i)^\W*{re.escape(word)}\b"))


def chooses(letter: str) -> str:
    """The answer is the letter of a choice, or begins with it as one: "A", "A)" or "(a):", not "A card"."""
    return str(Regexp(rf"(?i)^\W*{re.escape(letter)}\s*(?:[).:,]|$)"))


def derived(answer: str, evidence: str) -> str:
    r"""Return the condition that follows from a free-text answer, "" for none.

    Without a condition, other evaluators judge the answer.

    It follows from a yes or no, from the letter of a choice, from the one quantity of a short answer, and
    from an answer of four words or fewer that is in the evidence. The answer itself meets it.

    >>> derived("HM Treasury", "The scheme is run by HM Treasury.")
    'regexp("(?i)(?<!\\w)HM\\s+Treasury(?!\\w)")'
    >>> derived("It depends on which card is meant.", "A card costs £5.")
    ''
    """
    found = _derived(answer, evidence)
    return found if found and parse_condition(found).check(answer) else ""


def without(condition: str, word: str) -> str:
    """A condition, "" for none, and that the answer does not hold a word."""
    absent = f"NOT {Regexp(rf'(?i){re.escape(word)}')}"
    return f"({condition}) AND {absent}" if condition else absent


def _derived(answer: str, evidence: str) -> str:
    if said := _SAID.match(answer):
        return begins_with(said[1].capitalize())
    if chosen := _CHOSEN.match(answer):
        return chooses(chosen[1])
    words = answer.rstrip(".").split()
    stated = quantities(answer.rstrip("."))
    if len(stated) == 1 and len(words) <= MORE_WORDS:
        return says(stated[0].text)
    if (
        stated
        or len(words) > FEW_WORDS
        or " ".join(words).casefold() not in " ".join(evidence.split()).casefold()
    ):
        return ""
    return str(Regexp(r"(?i)(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"))


def _stem(word: str) -> str:
    """A singular without the y that a plural changes."""
    return word[:-1] if word.endswith("y") and len(word) > 3 else word
