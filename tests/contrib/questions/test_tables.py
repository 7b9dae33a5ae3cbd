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
                "In the table under “Periods”, what is given as “Check-ups per year” for “Plus”?": "2",
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
            {
                "In the table under “Periods”, what is given as “Visitors” for “Women of the Mill”?": "11,900"
            },
        ),
        (
            ("Berth | Rafting", "Fish Dock | By arrangement with the office"),
            {
                "In the table under “Periods”, what is given as “Rafting” for Fish Dock?": (
                    "By arrangement with the office"
                )
            },
        ),
        (
            ("Boiler | With an approved fitter", "Compact boiler | 10 years"),
            {
                "In the table under “Periods”, what is given as “With an approved fitter” for “Compact"
                " boiler”?": "10 years"
            },
        ),
        (
            ("Leave | Approved by", "Removal | Line manager"),
            {"In the table under “Periods”, what is given as “Approved by” for “Removal”?": "Line manager"},
        ),
        (
            ("Task | Duration", "Check the oil | 5 minutes"),
            {"In the table under “Periods”, what is given as “Duration” for “Check the oil”?": "5 minutes"},
        ),
        (
            ("Part | Replace", "Main brush | Every 6 months"),
            {"How often should I replace the main brush?": "Every 6 months"},
        ),
        (("Property | Value", "Pump pressure | 15 bar"), {"What is the pump pressure?": "15 bar"}),
    ],
    ids=[
        "period", "level", "mode", "words", "light", "code", "title", "name", "no noun phrase", "preposition",
        "clause", "task", "property",
    ],
)  # fmt: skip
def test_a_row_is_asked_for(rows: tuple[str, ...], expected: dict[str, str]) -> None:
    assert answers([f"| {row} |" for row in rows]) == expected


@pytest.mark.parametrize(
    "rows",
    [
        ("Leave | Paid", "Moving house | Yes"),
        ("Part | Period", "All other parts | 1 year"),
        ("Item | Fee", "Passport | –"),
        ("Room | Capacity", "Kiln Hall | n/a"),
        ("Room | Connected with", "Kiln Hall | Hop Loft", "Hop Loft | Kiln Hall"),
    ],
    ids=["yes", "others", "empty", "not available", "name of another row"],
)
def test_a_row_or_column_without_a_plain_name_is_not_asked_for(rows: tuple[str, ...]) -> None:
    assert answers([f"| {row} |" for row in rows]) == {}


def test_a_property_of_one_word_names_its_section() -> None:
    (question,) = answers(["| Property | Value |", "| Weight | 9.8 kg |"])
    assert question == "Under “Periods”, what is the weight?"


def test_a_table_without_a_heading_of_its_own_names_its_document() -> None:
    table = "| Berth | Rafting | |---|---| | Fish Dock | Up to 3 abreast |"
    excerpt = Excerpt(id="c1", sentences=("Harbour Notice", table), topic="1", title="Harbour Notice")
    corpus = Corpus((excerpt,))
    (draft,) = Registry().generators.get("simple_factual")().drafts(excerpt, corpus, random.Random(0))
    clear = DraftSelection(corpus).clear_draft(draft, excerpt)
    assert clear is not None
    assert clear.question == "In the table of “Harbour Notice”, what is given as “Rafting” for Fish Dock?"


def test_one_of_two_tables_without_headings_is_not_quoted() -> None:
    tables = [
        f"| Berth | Rafting | |---|---| | {name} | Up to 3 abreast |" for name in ("Fish Dock", "Old Quay")
    ]
    excerpt = Excerpt(id="c1", sentences=("Harbour Notice", *tables), topic="1", title="Harbour Notice")
    corpus = Corpus((excerpt,))
    drafts = list(Registry().generators.get("simple_factual")().drafts(excerpt, corpus, random.Random(0)))
    assert len(drafts) == 2
    assert not any(DraftSelection(corpus).clear_draft(draft, excerpt) for draft in drafts)
