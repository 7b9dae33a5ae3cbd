"""Questions that nobody would type: too long, or with leftovers of a sentence."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.words import pattern_tables, word_set

_MAX_WORDS = 20
_MAX_WORDS_WITH_CONDITION = 25
"""Maximum number of words of a question with a condition or relative clause."""
_MIN_WORDS = 3
_CONDITION = re.compile(r"(?i)\s(?:if|when|where|once|unless|until|before|after|who|which|that|because)\s")
_UNNATURAL = re.compile("|".join(pattern_tables()["unnatural"]), re.IGNORECASE)
_DANGLING = word_set(
    "to by with from a an the and or than as per into within about is are was were for and of at"
)


def is_natural(question: str) -> bool:
    """Report whether a person could type a question; False in doubt.

    >>> is_natural("How long does delivery take?"), is_natural("How long does such a delivery take?")
    (True, False)
    """
    text = bare_question(question)
    words = text.rstrip("?").split()
    limit = _MAX_WORDS_WITH_CONDITION if _CONDITION.search(text) else _MAX_WORDS
    return (
        _MIN_WORDS <= len(words) <= limit
        and words[-1].lower() not in _DANGLING
        and not _UNNATURAL.search(text)
    )
