"""Forms of sentences that the graded documents do not have."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.contrib.questions.quantities import changed, pattern


@pytest.mark.parametrize(
    ("date", "equivalents", "other"),
    [
        (
            "2027-01-31",
            ["31 January 2027", "January 31st, 2027", "31/1/2027"],
            ["30 January 2027", "2027-02-28"],
        ),
        ("March 1, 2026", ["1 March 2026", "2026-03-01"], ["2 March 2026", "1 March 2025"]),
    ],
)
def test_dates_in_other_notations(date: str, equivalents: list[str], other: list[str]) -> None:
    notation = re.compile(pattern(date))
    assert [text for text in equivalents if not notation.search(text)] == []
    assert [text for text in other if notation.search(text)] == []


def test_a_quantity_that_rounds_to_itself_changes_by_one() -> None:
    assert changed("1 litre", 1.2) == "2 litre"
    assert changed("1 litre", 0.9) == ""
