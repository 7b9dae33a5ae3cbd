"""Conditions that a right answer meets in any form: what to write in place of its exact words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_evalstudio.contrib.mutation.right_variants import value_text, values_answering
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.condition_terms import escaped
from pytest_evalstudio.text.affirmation import polarity_of
from pytest_evalstudio.text.stated_values import value_alone

_POLAR_QUESTION = re.compile(
    r"\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)\b"
    r"(?![^?]*\bor\b)",
    re.IGNORECASE,
)
_TIMEOUT_S = 1.0


def loose_conditions(answer: str, question: str) -> Iterator[str]:
    """Yield conditions on what an answer says: its yes or no, and each value that the question lacks.

    >>> list(loose_conditions("A transfer abroad costs 15 USD.", "What does a transfer abroad cost?"))
    ['value("15 USD")']
    >>> list(loose_conditions("Yes, it can be returned within 14 days.", "Can I return it?"))
    ['affirms("Can I return it?")', 'value("within 14 days")']
    """
    if _POLAR_QUESTION.match(question) and (polarity := polarity_of(answer, question)):
        yield f'{"affirms" if polarity == "yes" else "denies"}("{escaped(question.strip())}")'
    for value in values_answering(answer, question):
        text = value_text(answer, value)
        if "\n" not in text and value_alone(text) is not None:
            yield f'value("{escaped(text)}")'


def holds(condition: str, text: str) -> bool:
    """Return True if a text meets a condition; False where that cannot be decided."""
    try:
        return parse_condition(condition).holds(text, _TIMEOUT_S)
    except EvalStudioError:
        return False


def number_failing(condition: str, texts: Sequence[str]) -> int:
    """Return the number of texts that do not meet a condition."""
    return sum(not holds(condition, text) for text in texts)
