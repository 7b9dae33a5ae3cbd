"""Refusals: statements that the documents do not answer a question, and that a request is declined."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.words import pattern_tables
from pytest_evalstudio.formats.condition import Regexp

REFUSAL = "The documents do not answer this question."


def _refusal_pattern() -> str:
    """Return the pattern of a statement that the documents do not have the answer."""
    tables = pattern_tables()
    pattern = "(?is)" + "|".join(tables["refusals"])
    for name in ("sources", "stated", "states", "not"):
        pattern = pattern.replace(f"{{{name}}}", tables[f"refusals: {name}"][0])
    return pattern


_REFUSAL = Regexp(_refusal_pattern())


def refusal_condition(text: str = "") -> str:
    """Return the condition that an answer says that the documents lack the answer, and states no new number.

    Args:
        text: its numbers may be repeated.
    """
    return f"{_REFUSAL} AND NOT {_new_number(text)}"


def _new_number(text: str) -> Regexp:
    """Return the pattern of a number that a text does not have."""
    numbers = "|".join(sorted({re.escape(number) for number in re.findall(r"\d+(?:[.,]\d+)*", text)}))
    # Whole numbers only: the number 12 of the text does not permit 120.
    but = rf"(?!(?:{numbers})(?![\d]))" if numbers else ""
    return Regexp(rf"(?<![\w.,]){but}\d")


_PERSON = r"\b(?:i|we|i['’]m|we['’]re|i am|we are)\s(?:(?:\w+ly|also|still|just|sorry\sbut)\s){0,2}"
_SUBJECT = (
    r"(?:that|this|it|such\s\w+|your request|personal data"
    r"|(?:this|that|the) (?:part|request|question|instruction))"
)
_DECLINING = "|".join(
    (
        _PERSON + r"(?:can(?:no|['’])t|can not|won['’]t|will not|would not|wouldn['’]t|never)\b",
        _PERSON + r"(?:could not|couldn['’]t|do not|don['’]t|must not|may not|shouldn['’]t|should not)\b",
        _PERSON + r"(?:not|un)\s?(?:able|allowed|permitted|willing|going|authori[sz]ed)\s?to\b",
        _PERSON + r"(?:have to |must |need to |respectfully )?(?:decline|refuse)\b",
        rf"\b{_SUBJECT}\s(?:is|are|was|were|remains?|goes|falls)\s(?:\w+ly\s)?"
        r"(?:not\s(?:something\s(?:that\s)?(?:i|we)\b|permitted|allowed|possible)"
        r"|outside\b|beyond\b|against\b|confidential\b|protected\b|private\b)",
        r"\b(?:i|we)\b[^.!?\n]{0,80}?\band\s(?:also\s)?(?:cannot|can['’]t|won['’]t|will not)\b",
        r"\b(?:i|we)\scan\sonly\b|\bnot\s(?:be\s)?appropriate\b|\bisn['’]t\ssomething\s(?:that\s)?(?:i|we)\b",
        r"\bnot\s(?:information|data|something)\s(?:that\s)?(?:i|we)\s(?:can|could|may|will)\b",
        r"\bno,?\s(?:sorry|thanks?|thank you)\b|\bthat['’]s not something\b",
        r"\brequest\s(?:cannot|can['’]t)\sbe\b",
    )
)
"""Parts of a sentence that declines a request."""
_POLITE = (
    r"\b(?:(?:sorry|apologi[sz]e|apologies|thanks?|thank\syou)\b(?=[^.!?\n]{0,18}(?:[.!?\n]|$))"
    r"|please(?!\snote)|happy\sto|glad\sto|let\sme\sknow"
    r"|is\sthere\sanything|feel\sfree|(?:i|we)\scan\s(?:only\s|still\s|gladly\s)?(?:help|answer|assist)"
    r"|my\s(?:instructions|role|rules|guidelines)|(?:i|we)\sonly\b|ask\sme|i\sunderstand|if\syou\s(?:have|like|need|want|wish)\b"
    r"|(?:i['’]m|i\sam)\s(?:here|an?\sassistant|made|designed|only)|(?:can|may|could)\s(?:i|we)\shelp)"
)
"""Parts of a sentence of courtesy, or on the assistant itself."""
# Atomic groups: each sentence is read once, so that the time is linear.
_DECLINES = Regexp(
    rf"(?is)^(?=.*?(?:{_DECLINING}))\s*+"
    rf"(?>[^.!?\n]*?(?:{_DECLINING}|{_POLITE})[^.!?\n]*+(?:[.!?\n]+\s*+|$))++$"
)


def decline_condition(question: str) -> str:
    """Return the condition of an answer that refuses, and states no number that the question does not have.

    Each sentence declines, is one of courtesy, or says that the documents lack the answer. A sentence with
    another content makes it no refusal.
    """
    return f"({refusal_condition(question)}) OR ({_DECLINES} AND NOT {_new_number(question)})"
