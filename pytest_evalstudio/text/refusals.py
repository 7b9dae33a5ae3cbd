"""Refusals: answers that say only that the model does not know, cannot or will not answer.

The rule is for English. An answer is cut into sentences, and sentences into clauses at colons, semicolons,
dashes and at "but", "however", "although", "so" and "therefore". A clause is

* a refusal: "I don't know", "I cannot help with that", "the documents do not mention it", "this is outside of
  my scope", "no information is available";
* a courtesy: an apology, an offer of help, a pointer to someone else;
* an explanation: what the sources are about, what the assistant is made for;
* else content.

An answer is a refusal if a clause of it is one, none is content, and it names no number that the question
does not name, except in courtesies. A longer answer than 2,000 characters is none. "I don't know of any
exceptions: the fee is 5 USD" is an answer, and so is "I am not sure, but it is free". The caller gives the
phrases of an application's own refusals, in any language: an answer that contains one is a refusal if it
names no further number.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from pytest_evalstudio.text.folding import fold_with_origins
from pytest_evalstudio.text.refusal_phrases import COURTESIES, EXPLANATIONS, LEAD, NO_LEAD, REFUSALS

ClauseKind = Literal["refusal", "courtesy", "explanation", "content"]

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_CLAUSE_END = re.compile(r"\s*[:;]\s*|\s-\s|,?\s(?:but|however|although|though|so|therefore)\b,?\s?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_PARENTHETIC = re.compile("[—–―]")
"""Dashes that divide clauses; folded, they would be hyphens."""
_NOT_SPOKEN = re.compile(r"[*_#>`\"]+")
_LISTED = re.compile(r"[-•]\s+")
_BLANKS = re.compile(r"\s+")
_MAX_LEADS = 8
MAX_CHARS = 2_000
"""Length of the longest refusal, without the phrases of an application."""


class _Patterns(NamedTuple):
    refusal: re.Pattern[str]
    courtesy: re.Pattern[str]
    explanation: re.Pattern[str]


@functools.cache
def _patterns() -> _Patterns:
    tables = (REFUSALS, COURTESIES, EXPLANATIONS)
    return _Patterns(*(re.compile("|".join(f"(?:{each})" for each in table)) for table in tables))


def is_refusal(answer: str, question: str = "", phrases: Sequence[str] = ()) -> bool:
    """Return True if an answer says only that the model does not know, cannot or will not answer.

    Args:
        answer: English text; time is linear in its length.
        question: numbers of the question may be repeated in a refusal.
        phrases: refusals of the application in any language; case, blanks and look-alikes do not count.

    Source: rule of this project; see the description of the module.

    >>> is_refusal("I'm sorry, but I don't know."), is_refusal("I don't know of any exceptions: it is 5 USD.")
    (True, False)
    >>> is_refusal("To bohužel nevím.", phrases=["bohužel nevím"])
    True
    """
    text = _plain(answer)
    # Most answers name no number, and need none of the question's.
    numbers = set(_NUMBER.findall(_plain(question))) if _NUMBER.search(text) else set()
    # Before the limit of length: an application's own phrase is certain in a long answer, too.
    for phrase in map(_plain, phrases):
        if phrase and phrase in text:
            return _adds_no_number(text.replace(phrase, " "), numbers)
    if len(text) > MAX_CHARS:
        return False
    refuses = False
    for clause in _clauses(text):
        kind = clause_kind(clause)
        if kind == "content" or (kind != "courtesy" and not _adds_no_number(clause, numbers)):
            return False
        refuses = refuses or kind == "refusal"
    return refuses


def clause_kind(clause: str) -> ClauseKind:
    """Return the kind of a clause in lower case."""
    patterns = _patterns()
    # Several leads may follow each other before the clause itself.
    for _ in range(_MAX_LEADS):
        if patterns.refusal.match(clause):
            return "refusal"
        if patterns.courtesy.match(clause):
            return "courtesy"
        if patterns.explanation.match(clause):
            return "explanation"
        lead = None if NO_LEAD.match(clause) else LEAD.match(clause)
        if lead is None or not lead.end():
            return "content"
        clause = clause[lead.end() :]
    return "content"


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses of a text; the first one distinguishes most answers from refusals."""
    for sentence in _SENTENCE_END.split(text):
        for clause in _CLAUSE_END.split(_LISTED.sub("", sentence, count=1)):
            if stripped := clause.strip(" .,!?…。！？()[]'"):
                yield stripped


def _adds_no_number(text: str, numbers: set[str]) -> bool:
    return all(number in numbers for number in _NUMBER.findall(text))


def _plain(text: str) -> str:
    """Return a text in lower case with plain characters, without marks of emphasis and quotation."""
    plain = fold_with_origins(_PARENTHETIC.sub(" - ", text), join_numbers=False).text.casefold()
    lines = _NOT_SPOKEN.sub(" ", plain).splitlines()
    return "\n".join(line for each in lines if (line := _BLANKS.sub(" ", each).strip()))
