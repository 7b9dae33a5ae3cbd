"""Questions for rows of tables."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition

KINDS = ("numerical_reasoning", "temporal_reasoning", "simple_factual")


def answers(rows: Sequence[str], *before: str) -> dict[str, str]:
    """Return the answers of the clear questions for a table, whose conditions they meet."""
    head, *body = rows
    rule = "|" + "---|" * (head.count("|") - 1)
    table = " ".join((head, rule, *body))
    excerpt = Excerpt(
        id="c1", sentences=("Price list", "Periods", *before, table), topic="1", title="Price list"
    )
    corpus = Corpus((excerpt,))
    selection = DraftSelection(corpus)
    result = {}
    for id in KINDS:
        for draft in Registry().generators.get(id)().drafts(excerpt, corpus, random.Random(0)):
            clear = selection.clear_draft(draft, excerpt)
            if clear is not None:
                assert parse_condition(clear.condition).check(clear.answer)
                result[clear.question] = clear.answer
    return result


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            ("Part | Period", "Forks | 5 years", "Paint and decals | 2 years"),
            {
                "What is the period for forks?": "5 years",
                "What is the period for paint and decals?": "2 years",
            },
        ),
        (
            ("Level | Monthly fee | Check-ups per year", "Plus | £17.90 | 2"),
            {
                "What is the monthly fee for the Plus level?": "£17.90",
                "How many check-ups per year are there for the Plus level?": "2",
            },
        ),
        (
            ("Limit | Standard mode", "Maximum speed | 36 km/h"),
            {"What is the maximum speed in standard mode?": "36 km/h"},
        ),
        (
            ("Reagent | Storage temperature", "Lysis buffer | Room temperature"),
            {"What is the storage temperature for the lysis buffer?": "Room temperature"},
        ),
        (
            ("Light | Meaning | What to do", "Flashing red | Battery low | Land soon"),
            {
                "What does a flashing red light mean?": "Battery low",
                "What should I do in case of a flashing red light?": "Land soon",
            },
        ),
        (
            ("Code | Meaning", "E04 | Low water pressure"),
            {"What does code E04 mean?": "Low water pressure"},
        ),
        (
            ("Exhibition | Visitors", "Women of the Mill | 11,900"),
            {"How many visitors are there for Women of the Mill?": "11,900"},
        ),
        (
            ("Part | Replace", "Main brush | Every 6 months"),
            {"How often should I replace the main brush?": "Every 6 months"},
        ),
        (("Property | Value", "Pump pressure | 15 bar"), {"What is the pump pressure?": "15 bar"}),
    ],
    ids=["period", "level", "mode", "words", "light", "code", "title", "task", "property"],
)  # fmt: skip
def test_a_row_is_asked_for(rows: tuple[str, ...], expected: dict[str, str]) -> None:
    assert answers([f"| {row} |" for row in rows]) == expected


@pytest.mark.parametrize(
    "rows",
    [
        ("Leave | Paid", "Moving house | Yes"),
        ("Leave | Approved by", "Moving house | Line manager"),
        ("Fee | Category A", "Risk assessment | 3 days"),
        ("Problem | Likely reason", "The motor does not start | No power"),
        ("Part | Period", "All other parts | 1 year"),
        ("Item | Fee", "Passport | –"),
        ("Task | Duration", "Check the oil level | 5 minutes"),
    ],
    ids=["participle", "preposition", "code of a group", "clause", "others", "empty", "task"],
)
def test_a_row_or_column_without_a_plain_name_is_not_asked_for(rows: tuple[str, ...]) -> None:
    assert answers([f"| {row} |" for row in rows]) == {}


def test_a_property_of_one_word_names_its_section() -> None:
    (question,) = answers(["| Property | Value |", "| Weight | 9.8 kg |"])
    assert question == "Under “Periods”, what is the weight?"
