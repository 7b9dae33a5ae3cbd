"""Forms of sentences that the graded documents do not have."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.contrib.questions.quantities import changed, pattern
from support.drafts import drafts


@pytest.mark.parametrize(
    ("generator", "sentence", "questions"),
    [
        pytest.param(
            "numerical_reasoning", "The account carries a fee of at least £5.", [], id="a fee with a bound"
        ),
        pytest.param(
            "temporal_reasoning",
            "We have a notice period of three months.",
            ["How long is your notice period?"],
            id="a period of ours",
        ),
        pytest.param(
            "numerical_reasoning",
            "Claims for lost luggage will be limited to £500.",
            ["To what amount will claims for lost luggage be limited?"],
            id="a limit in the future",
        ),
        pytest.param(
            "numerical_reasoning",
            "The committee consists of nine members.",
            ["How many members does the committee consist of?"],
            id="members",
        ),
        pytest.param(
            "numerical_reasoning",
            "The hall provides seats for 200 visitors.",
            ["How many visitors does the hall provide seats for?"],
            id="a count at the end",
        ),
        pytest.param("numerical_reasoning", "Membership rose to 742 people.", [], id="a change of a count"),
        pytest.param(
            "simple_factual",
            "The sauna serves as a drying room.",
            ["What serves as a drying room?"],
            id="what serves as something",
        ),
    ],
)
def test_questions_for_rare_forms(generator: str, sentence: str, questions: list[str]) -> None:
    assert [draft.question for draft in drafts(generator, sentence)] == questions


@pytest.mark.parametrize(
    ("date", "same", "other"),
    [
        (
            "2027-01-31",
            ["31 January 2027", "January 31st, 2027", "31/1/2027"],
            ["30 January 2027", "2027-02-28"],
        ),
        ("March 1, 2026", ["1 March 2026", "2026-03-01"], ["2 March 2026", "1 March 2025"]),
    ],
)
def test_dates_in_other_notations(date: str, same: list[str], other: list[str]) -> None:
    notation = re.compile(pattern(date))
    assert [text for text in same if not notation.search(text)] == []
    assert [text for text in other if notation.search(text)] == []


def test_a_quantity_that_rounds_to_itself_changes_by_one() -> None:
    assert changed("1 litre", 1.2) == "2 litre"
    assert changed("1 litre", 0.9) == ""
