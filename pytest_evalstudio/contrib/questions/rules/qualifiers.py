"""Conditions that follow a statement, which a question must keep."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.grammar.verbs import BE, MODALS, forms
from pytest_evalstudio.contrib.questions.quantities import quantities, unit_of
from pytest_evalstudio.contrib.questions.words import word_table

_CONDITION = re.compile(
    r"^,?\s?(?P<condition>(?:if|when|as long as|provided that|while)\s[^,;()]+)$", re.IGNORECASE
)
_EXCEPTION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|except|provided|providing|where|whereas|while|until"
    r"|(?<!at )once|but|however|although|though|as\s(?:long|soon)\sas|subject to|or)\b"
)
_RESTRICTION = re.compile(
    r"(?i);\s(?:for|if|unless|except|but|however|in|after|from)\b[^;]*"
    r"\b(?:free|no|not|nothing|only|instead|waived)\b"
)
_UNEXPLAINED = re.compile(r"(?i)\b(?:this|that|these|those|such|only|also|even|one|other|same)\b")
_COMPARING = word_table("comparing words")
_CONDITION_WORDS = range(3, 10)


def condition_after(tail: str) -> str | None:
    """Return the condition that ends a sentence, "" for none; None if a question cannot keep it.

    >>> condition_after(" if you book online"), condition_after(", the highest ever")
    ('if you book online', '')
    >>> condition_after(", unless it was damaged before") is None
    True
    """
    if not _EXCEPTION.search(tail):
        return ""
    match = _CONDITION.match(tail)
    if match is None:
        return None
    condition = match["condition"]
    is_short = len(condition.split()) in _CONDITION_WORDS
    is_single = len(_EXCEPTION.findall(condition)) == 1
    return condition if is_short and is_single and not _UNEXPLAINED.search(condition) else None


def has_exception(sentence: str) -> bool:
    """Report whether the words after a semicolon restrict a statement: "; for children it is free"."""
    return _RESTRICTION.search(sentence) is not None


def has_second_case(unit: str, tail: str) -> bool:
    """Report whether a statement goes on with a quantity of the same unit for another case.

    >>> has_second_case("£", ", students £12"), has_second_case("£", ", against £12 in 2023")
    (True, False)
    """
    start = re.match(r",?\s(?:and|or|but|then)\s|,\s(?=[a-z])", tail)
    if start is None:
        return False
    is_list = start.group().strip() != ","
    for other in quantities(tail):
        between = tail[start.end() : other.start].lower().split()
        is_case = is_list or (between and not _COMPARING.intersection(between))
        if is_case and unit_of(other.text) == unit and not any(map(_is_verb, between)):
            return True
    return False


def _is_verb(word: str) -> bool:
    return word in BE | MODALS or "s" in forms(word) or "past" in forms(word)


def with_condition(question: str, condition: str) -> str:
    """Return a question that ends with a condition; "" remains ""."""
    # The full stop of the sentence was removed with that of "p.m.".
    condition = f"{condition}." if condition.endswith((" a.m", " p.m")) else condition
    return f"{question.removesuffix('?')} {condition}?" if question and condition else question
