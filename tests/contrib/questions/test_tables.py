"""Questions for rows of tables."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition

KINDS = ("numerical_reasoning", "temporal_reasoning", "simple_factual")


def _bare(question: str) -> str:
    text = bare_question(question)
    return text[0].upper() + text[1:]


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
                result[_bare(clear.question)] = clear.answer
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
            {"How much is the monthly fee for the Plus level?": "£17.90"},
        ),
        (
            ("Reagent | Storage temperature", "Lysis buffer | Room temperature"),
            {"What is the storage temperature of the lysis buffer?": "Room temperature"},
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
            ("Part | Replace", "Main brush | Every 6 months"),
            {"How often should I replace the main brush?": "Every 6 months"},
        ),
        (("Property | Value", "Pump pressure | 15 bar"), {"What is the pump pressure?": "15 bar"}),
        (
            ("Parcel | Price | Collected", "Up to 5 kg | £4 | no", "5 to 10 kg | £7 | yes"),
            {
                "How much does a parcel of up to 5 kg cost?": "£4",
                "How much does a parcel of 5 to 10 kg cost?": "£7",
            },
        ),
        (
            ("Room | Volume (m³)", "B0.12 | 96"),
            {"What is the volume of room B0.12?": "96 m³"},
        ),
        (
            ("Item | Kept for", "Bags, umbrellas | 60 days"),
            {"For how long are bags and umbrellas kept?": "60 days"},
        ),
        (
            ("Pool | Maximum bathers", "Main pool | 120"),
            {"What is the maximum number of bathers in the main pool?": "120"},
        ),
        (
            ("Ticket | Adults | Students", "Single visit (3 hours) | £6 | £4"),
            {
                "How much does a single visit cost for adults?": "£6",
                "How much does a single visit cost for students?": "£4",
            },
        ),
        (
            (" | 2024 | 2023", "Pensioners | 8,730 | 8,512"),
            {
                "How many pensioners were there in 2024?": "8,730",
                "How many pensioners were there in 2023?": "8,512",
            },
        ),
        (
            ("Notice | Saver | Flexible", "Up to 2 days | No refund | 50%", "After departure | 10% | 20%"),
            {
                "What is the refund for notice of up to 2 days with the Flexible ticket?": "50%",
                "What is the refund after departure with the Flexible ticket?": "20%",
                "What is the refund after departure with the Saver ticket?": "10%",
            },
        ),
        (
            ("Signal | Action", "Red lamp, steady tone | Leave at once"),
            {"What should I do in case of a red lamp with a steady tone?": "Leave at once"},
        ),
    ],
    ids=[
        "period", "level", "words", "light", "code", "task", "property", "band", "room", "passive", "number",
        "case", "year", "offer", "signal",
    ],
)  # fmt: skip
def test_a_row_is_asked_for(rows: tuple[str, ...], expected: dict[str, str]) -> None:
    assert answers([f"| {row} |" for row in rows], "A Saver ticket is cheap.") == expected


@pytest.mark.parametrize(
    "rows",
    [
        ("Leave | Paid", "Moving house | Yes"),
        ("Part | Period", "All other parts | 1 year"),
        ("Item | Fee", "Passport | –"),
        ("Room | Capacity", "Kiln Hall | n/a"),
        ("Room | Connected with", "Kiln Hall | Hop Loft", "Hop Loft | Kiln Hall"),
        ("Berth | Rafting", "Fish Dock | By arrangement with the office"),
        ("Boiler | With an approved fitter", "Compact boiler | 10 years"),
        ("Leave | Approved by", "Removal | Line manager"),
        ("Task | Duration", "Check the oil | 5 minutes"),
        ("Plan | Annual fee | Second card", "Basic | – | £6"),
        ("Zone | Price", "A | £4", "A | £6"),
        ("Setting | Range", "Dose, single | 15 to 60 ml"),
        ("Course | Fee", "Rowing | If members, £5"),
        ("Item | At one time", "Books | 12"),
    ],
    ids=[
        "yes", "others", "empty", "not available", "name of another row", "no property", "no noun phrase",
        "preposition", "clause", "one case", "repeated row", "row with a remark", "dependent cell", "no noun",
    ],
)  # fmt: skip
def test_a_row_or_column_without_a_plain_name_is_not_asked_for(rows: tuple[str, ...]) -> None:
    assert answers([f"| {row} |" for row in rows]) == {}


def test_a_property_of_one_word_names_its_section() -> None:
    table = "| Property | Value | |---|---| | Weight | 9.8 kg |"
    excerpt = Excerpt(id="c1", sentences=("Price list", "Periods", table), topic="1", title="Price list")
    corpus = Corpus((excerpt,))
    (draft,) = Registry().generators.get("numerical_reasoning")().drafts(excerpt, corpus, random.Random(0))
    clear = DraftSelection(corpus).clear_draft(draft, excerpt)
    assert clear is not None
    assert clear.question == "Under “Periods”, what is the weight?"
