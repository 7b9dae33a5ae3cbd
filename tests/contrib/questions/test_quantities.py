"""Quantities in sentences, and what says the same."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.contrib.questions.quantities import pattern, quantities


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It costs £1,250.50, or 3 %.", [("money", "£1,250.50"), ("percent", "3 %")]),
        ("You pay 20 euros within 14 working days.", [("money", "20 euros"), ("period", "14 working days")]),
        ("Valid from 1 March 2026 to 2027-01-31.", [("date", "1 March 2026"), ("date", "2027-01-31")]),
        ("After five of them call 0800-123-456, room B12.", []),
        ("Paid for 2024, not for 2023 and 2022.", [("date", "2024"), ("date", "2023"), ("date", "2022")]),
        ("The hall seats 2000 people.", [("number", "2000")]),
        ("Form 12 has 3 pages.", [("number", "12"), ("number", "3")]),
        ("A 24-hour line, twelve months a year.", [("period", "24-hour"), ("period", "twelve months")]),
    ],
)
def test_quantities(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert [(hit.kind, hit.text) for hit in quantities(sentence)] == expected
    assert all(sentence[hit.start : hit.end] == hit.text for hit in quantities(sentence))


@pytest.mark.parametrize(
    ("quantity", "equivalents", "other"),
    [
        ("£5.00", ["£5", "£5.00.", "costs £5, at most"], ["£5.50", "£15", "£50", "5%", "£5.001"]),
        ("2,500", ["2500", "2,500", "2,500.00"], ["12,500", "2,500,000", "25000"]),
        (
            "five working days",
            ["5 working days", "Five working days", "five working day"],
            ["15 working days", "five days"],
        ),
        ("2.75%", ["2.75 %", "2.75 per cent"], ["12.75%", "2.7%", "2.755%"]),
        ("3", ["3.", "three", "3, or"], ["3%", "13", "3.5", "33"]),
    ],
)
def test_what_says_the_same(quantity: str, equivalents: list[str], other: list[str]) -> None:
    notation = re.compile(pattern(quantity))
    assert [text for text in equivalents if not notation.search(text)] == []
    assert [text for text in other if notation.search(text)] == []
