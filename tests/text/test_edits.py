"""Edits between two questions: together they make the perturbed one, and each can be left out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.scoring.perturbing.cases import perturb
from pytest_evalstudio.text.edits import applied, changes_between

QUESTIONS = (
    "What does a replacement card cost?",
    "What is the fee for a transfer abroad from the bank?",
    "Please tell me, in a few words: does the lazy copy of Anna's card cost 5 EUR per year or more?",
    "Wie viel kostet die Überweisung?\nUnd wann ist sie da?",
)
WORDS = st.sampled_from(["a", "b", "ab", "A", "ba", " c", "", "d,", "e.", "x-y", "\n", "don't", "ä"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


def pairs(original, perturbed):
    """Return for each change its edits, as (removed, added)."""
    return [
        [(original[edit.start : edit.end], edit.text) for edit in change]
        for change in changes_between(original, perturbed)
    ]


@pytest.mark.parametrize(
    ("original", "perturbed", "expected"),
    [
        ("same text", "same text", []),
        ("a card", "a crad", [[("ar", "ra")]]),
        ("a card", "a cardd", [[("", "d")]]),
        ("a card", "a crd", [[("a", "")]]),
        ("the card here", "the c4d hefe", [[("ar", "4")], [("r", "f")]]),
        ("a transfer abroad", "a transfer overseas", [[("abroad", "overseas")]]),
        ("What does it cost?", "does What it, cost?", [[("What does", "does What")], [("", ",")]]),
        ("please tell me the fee", "tell me the fee please", [[("please ", "")], [("", " please")]]),
        (
            "we meet in town today, then",
            "we meet today in town, then",
            [[("in town today", "today in town")]],
        ),
        ("the fee for", "the very high fee for", [[("", "very ")], [("", "high ")]]),
        ("the very high fee", "the fee", [[("very ", "")], [("high ", "")]]),
        ("cost of a card", "cot of  cad", [[("s", "")], [("a", "")], [("r", "")]]),
        ("one two three", "four five", [[("one two three", "four five")]]),
    ],
)
def test_changes_of_words_and_their_characters(original, perturbed, expected):
    assert pairs(original, perturbed) == expected


@pytest.mark.parametrize("id", [spec.id for spec in Registry().perturbators.specs() if not spec.lacks])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_edits_of_every_perturbator_make_its_question(id, question):
    spec = Registry().perturbators.spec(id)
    for intensity in spec.intensities[:1] + spec.intensities[-1:] or ("",):
        copy = perturb(TestCase(prompt=question, key="k"), f"{id}:{intensity}".rstrip(":").lower())
        for case in copy.content.test_cases[1:]:
            edits = [edit for change in changes_between(question, case.prompt) for edit in change]
            assert applied(question, edits) == case.prompt
            assert bool(edits) != spec.identical


@given(TEXTS, TEXTS)
def test_all_edits_make_the_second_text_of_the_first(original, perturbed):
    changes = changes_between(original, perturbed)
    edits = [edit for change in changes for edit in change]
    assert applied(original, edits) == perturbed
    assert applied(original, []) == original
    assert all(changes)
    assert all(first.end <= last.start for first, last in pairwise(edits))
    assert all(edit.start < edit.end or edit.text for edit in edits)
