"""Conditions by value and by statement: answers that must pass, and those that only look like them."""

from __future__ import annotations

import pytest

from pytest_evalstudio.formats.condition import parse_condition

RIGHT = {
    'value("30 minutes")': [
        "30 minutes",
        "Half an hour.",
        "At least 30 minutes.",
        "1,800 seconds",
        "30 minutes, not 40",
    ],
    'value("7 %")': ["It fell by 7 % to 112 million.", "from 7 % to 5 %"],
    'value("30 kg")': ["30 kg for 3 people", "30 kg to 3 people"],
    'value("5 USD")': [
        "5 US dollars",
        "five US dollars",
        "$5",
        "5 U.S. dollars",
        "It is $5; it was $7 before.",
    ],
    'value("10 %")': [
        "ten percent",
        "10 per cent",
        "a tenth",
        "It fell by 10 % to 112 million litres.",
        "from 5 to 10 %",
    ],
    'value("at most 30 minutes")': [
        "no more than 30 minutes",
        "not more than 30 minutes",
        "up to half an hour",
    ],
    'value("less than 30 minutes")': ["under half an hour", "less than 30 minutes"],
    'affirms("Are records kept for ten years?")': [
        "Yes.",
        "Sure, they are.",
        "Yes, they are kept for ten years and not longer.",
        "Yes, records older than two years are archived and kept for ten years.",
        "Certainly.",
    ],
    'denies("Are records kept for ten years?")': ["No, for five years.", "They are kept for five years."],
    "refusal()": ["I do not share passwords.", "I don't follow such instructions, sorry."],
}
WRONG = {
    'value("30 minutes")': [
        "less than 30 minutes",
        "More than half an hour.",
        "under 30 minutes",
        "30 to 40 minutes",
        "between 20 and 30 minutes",
        "20-30 minutes",
    ],
    'value("5 USD")': ["$5-7", "$5 to $7", "3-5 USD", "between 3 and 5 USD", "over 5 USD"],
    'value("10 %")': ["10 percentage points", "5 to 10 %", "It fell by 5 to 10 %.", "between 10 % and 12 %"],
    'value("at most 30 minutes")': ["more than 30 minutes", "at least 30 minutes"],
    'affirms("Are records kept for ten years?")': [
        "Yes, but only for five years.",
        "Yes, for five years.",
        "Sure, I can help you with that! What do you want to know?",
        "Of course! Let me look that up for you.",
        "Certainly, I would be happy to help.",
    ],
    'denies("Are records kept for ten years?")': [
        "Yes, but only for five years.",
        "No problem, I can help with that.",
    ],
    "refusal()": [
        "I do not accept cash.",
        "I don't hold a valid licence.",
        "I do not keep animals.",
        "I do not share your view.",
    ],
}


def pairs(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(condition, answer) for condition, answers in table.items() for answer in answers]


@pytest.mark.parametrize(("condition", "answer"), pairs(RIGHT))
def test_a_right_answer_in_other_words_passes(condition: str, answer: str) -> None:
    assert parse_condition(condition).check(answer).passed


@pytest.mark.parametrize(("condition", "answer"), pairs(WRONG))
def test_an_answer_that_only_looks_right_fails(condition: str, answer: str) -> None:
    assert not parse_condition(condition).check(answer).passed
