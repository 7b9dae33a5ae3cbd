"""A question for a fact, and the condition of its answer."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.conditions import keywords_condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A question for a fact.

    Attributes:
        answer: the answering words.
        condition: of a right answer.
    """

    question: str
    answer: str
    condition: str


def make_fact(question: str, answer: str, condition: str = "") -> Fact | None:
    """Return a fact, by default with the condition of its answer's key words; None if there are none."""
    required = condition or keywords_condition(answer)
    if not required or not question:
        return None
    return Fact(question=question, answer=answer.strip(), condition=required)
