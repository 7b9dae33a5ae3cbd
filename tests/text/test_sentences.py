# ruff: noqa: E501  (tables of cases)

from functools import partial

import pytest

from pytest_evalstudio.text.claims import claims_of
from pytest_evalstudio.text.sentences import Unit, split_sentences, split_units
from support.processor_time import assert_linear


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("* The fee is 15 USD\n* It is free", ["The fee is 15 USD", "It is free"]),
        ("- One.\n  - Two\n  continued\n- Three", ["One.", "Two\n  continued", "Three"]),
        ("1) First\n2) Second", ["First", "Second"]),
        ("(a) first\n(b) second", ["first", "second"]),
        ("Step 1: Open it.\nStep 2: Log in.", ["Open it.", "Log in."]),
        ("- [ ] todo\n- [x] done", ["todo", "done"]),
        ("## Fees\nIt is free. Really.", ["Fees", "It is free.", "Really."]),
        ("Use it:\n```py\nx = 1\ny = 2\n```\nDone.", ["Use it:", "x = 1\ny = 2", "Done."]),
        ("Fee: 15 USD\nTerm: 2 years", ["Fee: 15 USD", "Term: 2 years"]),
        ("---\nIt is free.\n---", ["It is free."]),
        (
            "This line was wrapped at a margin, as many texts in terminals\nare. It goes on.",
            ["This line was wrapped at a margin, as many texts in terminals\nare.", "It goes on."],
        ),
        ("甲。乙！丙？", ["甲。", "乙！", "丙？"]),
        ("真的吗?是的。", ["真的吗?", "是的。"]),
        ("他说：“好。”我走了。", ["他说：“好。”", "我走了。"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("هل هو؟ نعم۔", ["هل هو؟", "نعم۔"]),
        ("Dr. Smith paid $1.5 million. He left.", ["Dr. Smith paid $1.5 million.", "He left."]),
        ("J. Smith paid. He left.", ["J. Smith paid.", "He left."]),
        ("-5 degrees\nIt is cold", ["-5 degrees", "It is cold"]),
        ("", []),
        ("* \n* ", ["*", "*"]),
    ],
)
def test_units_of_a_text(text: str, units: list[str]) -> None:
    assert texts(text) == units


def test_rows_of_a_table_have_the_names_of_their_columns() -> None:
    text = "| Card | Fee |\n|---|---:|\n| Gold | 5 USD |"
    assert split_units(text) == [Unit(0, 14, "header"), Unit(26, 42, "row", ("Card", "Fee"))]
    assert [unit.kind for unit in split_units("Card | Fee\n--- | ---\nGold | 5\nSilver | 0")] == [
        "header",
        "row",
        "row",
    ]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Here are the fees:\n- Fee: $99.\n- Term: 2 years", ["Fee: $99.", "Term: 2 years"]),
        ("# Fees\nIt is free of charge.", ["It is free of charge."]),
        ("# A fee of 15 USD\nIt is free of charge.", ["A fee of 15 USD", "It is free of charge."]),
        ("Yes. The card is free of charge.", ["Yes. The card is free of charge."]),
        ("The card is free of charge. It is so.", ["The card is free of charge. It is so."]),
        ("No. The card is free of charge.", ["No.", "The card is free of charge."]),
        ("The fee is low. Fee: $99.", ["The fee is low.", "Fee: $99."]),
        ("这张卡不需要年费。必须卖。", ["这张卡不需要年费。", "必须卖。"]),
        ("Sure.", ["Sure."]),
        ("| Card | Fee |\n|---|---|\n| Gold | 5 USD |", ["Card: Gold; Fee: 5 USD"]),
        ("## Fees", ["Fees"]),
        ("...", []),
    ],
)
def test_claims_of_a_text(text: str, claims: list[str]) -> None:
    assert [claim.text for claim in claims_of(text)] == claims


@pytest.mark.parametrize("count", [10_000, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "unit",
    ["- a\n", "| a | b |\n", "|", "- ", "1. ", "# a\n", "```\n", "。", "a: b\n", "> ", "Step 1: ", "A\n", "**a**\n", "\n", "--- | "],
)  # fmt: skip
def test_time_is_linear(unit: str, count: int) -> None:
    assert_linear(lambda size: partial(claims_of, unit * size + str(size)), count // 10, times=10)
