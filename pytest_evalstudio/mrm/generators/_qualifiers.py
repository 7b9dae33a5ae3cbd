"""Conditions that follow a statement, which a question must keep."""

from __future__ import annotations

import re

_KEPT = re.compile(
    r"^,?\s?(?P<condition>(?:if|when|as long as|provided that|while)\s[^,;()]+)$", re.IGNORECASE
)
_EXCEPTION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|except|provided|providing|where|whereas|while|until"
    r"|(?<!at )once|but|however|although|though|as\s(?:long|soon)\sas|subject to|or)\b"
)
_RESTRICTION = re.compile(r"(?i);\s(?:for|if|unless|except|but|however|in|after|from)\b")
_UNEXPLAINED = re.compile(r"(?i)\b(?:this|that|these|those|such|only|also|even|one|other|same)\b")
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


def with_condition(question: str, condition: str) -> str:
    """Return a question that ends with a condition; "" remains ""."""
    return f"{question.removesuffix('?')} {condition}?" if question and condition else question
