"""Words that say nothing, to see whether a judge prefers longer answers."""

from __future__ import annotations

import re

from pytest_evalstudio.metrics.function_words import FUNCTION_WORDS

_BEFORE = (
    "Thank you very much for your question. Please find the answer below, and feel free to take as much time"
    " as you need to read it."
)
_AFTER = (
    "I hope that this helps. Please do not hesitate to ask again if anything should be unclear to you; I will"
    " gladly put any part of it in other words. You are welcome to come back at any time with further"
    " questions, be they about this or about anything else. Thank you once more, and have a pleasant day."
)
_WORD = re.compile(r"[^\W\d_]+")
MIN_WORDS = 3
MIN_ENGLISH = 0.2
"""Share of function words from which on a text counts as English."""


def pad(answer: str) -> str:
    """Return an answer between courtesies, which are neither statements nor answers."""
    return f"{_BEFORE}\n\n{answer}\n\n{_AFTER}"


def is_english(text: str) -> bool:
    """Return whether a text is probably English: padding in another language would change its language.

    >>> is_english("It costs five euros a month."), is_english("Es kostet fünf Euro im Monat.")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(text[:10_000])]
    return len(words) >= MIN_WORDS and sum(word in FUNCTION_WORDS for word in words) >= MIN_ENGLISH * len(
        words
    )
