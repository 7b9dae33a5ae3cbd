"""Refusals: statements that the documents do not answer a question, and that a request is declined."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.words import pattern_tables
from pytest_evalstudio.formats.condition import Refusal, Regexp

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


def decline_condition() -> str:
    """Return the condition of an answer that declines a request politely, in words of any application."""
    return str(Refusal())
