"""Conditions that follow a statement, which a question must keep."""

from __future__ import annotations

import re

from pytest_evalstudio.mrm.texts.quantities import quantities, unit_of
from pytest_evalstudio.mrm.texts.verbs import BE, MODALS, forms
from pytest_evalstudio.mrm.texts.words import word_set

_KEPT = re.compile(
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
_COMPARING = word_set(
    """
    against compared up down of about less more fewer an a the its with than nearly almost or
    """
)
"""Words before a quantity that a statement is compared with."""
_LONGEST = 9


def condition_after(tail: str) -> str | None:
    """Return the condition that ends a sentence, "" for none; None if a question cannot keep it.

    >>> condition_after(" if you book online"), condition_after(", the highest ever")
    ('if you book online', '')
    >>> condition_after(", unless it was damaged before") is None
    True
    """
    if not _EXCEPTION.search(tail):
        return ""
    match = _KEPT.match(tail)
    if match is None:
        return None
    condition = match["condition"]
    is_short = 3 <= len(condition.split()) <= _LONGEST
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
    opened = re.match(r",?\s(?:and|or|but|then)\s|,\s(?=[a-z])", tail)
    if opened is None:
        return False
    for other in quantities(tail):
        between = tail[opened.end() : other.start].lower().split()
        is_list = "," not in opened.group() or opened.group().strip() != ","
        is_case = is_list or (between and not _COMPARING.intersection(between))
        if is_case and unit_of(other.text) == unit and not any(map(_is_verb, between)):
            return True
    return False


def _is_verb(word: str) -> bool:
    return word in BE | MODALS or "s" in forms(word) or "past" in forms(word)


def with_condition(question: str, condition: str) -> str:
    """Return a question that ends with a condition; "" remains ""."""
    return f"{question.removesuffix('?')} {condition}?" if question and condition else question
