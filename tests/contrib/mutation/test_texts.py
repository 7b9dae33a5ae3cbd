"""Kinds of damage to a text: what each changes, and where it does not apply."""

from __future__ import annotations

from random import Random

import pytest

from pytest_evalstudio.contrib.mutation.calls import CALL_MUTATORS
from pytest_evalstudio.contrib.mutation.right_variants import FORMATTING, RIGHT_VARIANTS
from pytest_evalstudio.contrib.mutation.texts import MUTATORS, MutationMaterial, names_in
from pytest_evalstudio.core.tool_calls import ToolCall

MATERIAL = MutationMaterial(
    question="What does a transfer to Spain cost?",
    others=("Cards are blocked by phone.", "A transfer costs nothing."),
    names=("Ada Brown", "Lisbon"),
)


def damaged(kind: str, text: str, material: MutationMaterial = MATERIAL, seed: int = 1) -> str | None:
    damage = {**MUTATORS, **RIGHT_VARIANTS}[kind](text, material, Random(seed))
    return None if damage is None else damage.text


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("number", "It costs 5 USD.", "It costs 6 USD."),
        ("number", "It costs 1,250.00 USD.", "It costs 2,250.00 USD."),
        ("number", "It takes 9 days.", "It takes 8 days."),
        ("number", "1. Open the app\n2. Pay", None),
        ("number", "In 2023 it was free.", None),
        ("number", "It was free on 3 May.", None),
        ("date", "In 2023 it was free.", "In 2022 it was free."),
        ("date", "It is due in January.", "It is due in March."),
        ("date", "It is due in December.", "It is due in February."),
        ("date", "It costs 5 USD.", None),
        ("unit", "It takes 3 days.", "It takes 3 weeks."),
        ("unit", "It costs $5.", "It costs €5."),
        ("unit", "It is yours.", None),
        ("name", "Ask for Jane Doe at the desk.", "Ask for Ada Brown at the desk."),
        ("name", "Ask at the desk.", None),
        ("name", "It goes to Spain.", None),
        ("negation", "The fee is 5 USD.", "The fee is not 5 USD."),
        ("negation", "You cannot cancel it.", "You can cancel it."),
        ("negation", "We will never ask.", "We will ask."),
        ("swapped", "It is between £100 and £2,000.", None),
        ("negation", "Yes, it does.", "No, it does."),
        ("negation", "I have sent it.", "I have not sent it."),
        ("negation", "Five dollars.", None),
        ("quantifier", "All cards count.", "Some cards count."),
        ("quantifier", "At least 5 cards.", "At most 5 cards."),
        ("quantifier", "Five cards.", None),
        ("swapped", "It costs 5 USD, and 7 EUR abroad.", "It costs 7 USD, and 5 EUR abroad."),
        ("swapped", "It costs 5 USD.", None),
        ("dropped_sentence", "Hello. A transfer costs 5 USD.", "Hello."),
        ("dropped_sentence", "It costs 5 USD.", None),
        ("other_answer", "It costs 5 USD.", "Cards are blocked by phone."),
        ("truncated", "A transfer to Spain costs 5 USD.", "A transfer to"),
        ("truncated", "Hello. A transfer to Spain costs 5 USD. Bye.", "Hello. A transfer to"),
        ("truncated", "5 USD.", None),
        ("refusal", "It costs 5 USD.", "I am sorry, but I cannot help with that."),
        ("refusal", "I do not know.", None),
        ("language", "It costs 5 USD.", "Nach den vorliegenden Unterlagen verhält es sich so: 5."),
    ],
)
def test_what_is_changed(kind: str, text: str, expected: str | None) -> None:
    assert damaged(kind, text) == expected


def test_an_unsupported_sentence_follows() -> None:
    assert (damaged("added_sentence", "It costs 5 USD") or "").startswith("It costs 5 USD. ")


@pytest.mark.parametrize("kind", FORMATTING)
def test_harmless_changes_keep_the_words(kind: str) -> None:
    text = "It costs 5 USD. It takes 3 days."
    changed = damaged(kind, text) or ""
    assert [word for word in text.split() if word not in changed.replace("*", "").split()] == []


@pytest.mark.parametrize("kind", MUTATORS)
@pytest.mark.parametrize("text", ["", " ", "5", "🙂", "\ud800", "a\x00b", "Grüße aus München", "是的。"])
def test_no_text_is_too_odd(kind: str, text: str) -> None:
    assert damaged(kind, text) != text


@pytest.mark.parametrize("kind", [*MUTATORS, *RIGHT_VARIANTS])
def test_the_same_seed_gives_the_same_damage(kind: str) -> None:
    text = "All 3 cards of Jane Doe cost 5 USD in May 2023. They take 7 days, and are free for 9 others."
    assert damaged(kind, text, seed=3) == damaged(kind, text, seed=3)


def test_names_stand_within_sentences() -> None:
    assert names_in(["The Plus Account is free. Ask Ada. USD only, in May."]) == ["Plus Account", "Ada"]


@pytest.mark.parametrize("value", [5, 0.5, 0, 2**60, 1e17, -1e17, 1.7e308])
def test_another_number_of_a_call_is_another_one(value: float) -> None:
    calls = (ToolCall(name="pay", arguments={"amount": value}),)
    result = CALL_MUTATORS["other_argument"](calls, Random(1))
    assert result is not None
    ((call,), _) = result
    assert call.arguments["amount"] != value
