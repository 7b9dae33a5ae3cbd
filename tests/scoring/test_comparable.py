"""Texts that differ only in their Unicode form are equal to evaluators; places are those of the originals."""

from __future__ import annotations

import unicodedata
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio import Registry
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.comparable import comparable_case
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.score import score
from pytest_evalstudio.text.comparable import comparable_text
from pytest_evalstudio.text.sentences import split_sentences
from support.processor_time import assert_linear

COMPOSED = unicodedata.normalize("NFC", "Sazba úvěru činí 5 % ročně.")
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
HIDDEN = COMPOSED.replace("5 %", "\u200e5\u200b %\ufeff")
PLAN = Plan(
    Registry(),
    configuration(
        {"evaluators": ["text_matching", "bleu", "rouge", "lexical_groundedness", "classification"]}
    ),
)


@pytest.mark.parametrize("answer", [DECOMPOSED, HIDDEN], ids=["decomposed", "hidden"])
@pytest.mark.parametrize("id", ["text_matching", "bleu", "rouge", "lexical_groundedness", "classification"])
def test_the_form_of_a_text_changes_no_score(id: str, answer: str) -> None:
    def outcome(actual: str, expected: str):
        case = Case(
            key="k",
            question="Kolik?",
            answer=Answer(text=actual, context=(expected,)),
            expected_output=expected,
            condition=f'"{expected}"',
            is_rag=True,
        )
        return score(PLAN.get(id), [case], Tools(split_sentences=split_sentences))[0]

    plain = outcome(COMPOSED, COMPOSED)
    assert plain.status == "score"
    assert outcome(answer, COMPOSED).scores == plain.scores
    assert outcome(COMPOSED, answer).scores == plain.scores
    other = outcome("Sazba uveru cini 5 % rocne.", COMPOSED)
    assert other.scores != plain.scores, "accents are not folded"


def test_places_are_those_of_the_original_text() -> None:
    answer = DECOMPOSED + " Zelen\u0301y\u0301 dra\u030ck."
    case = Case(key="k", question="q", answer=Answer(text=answer, context=(COMPOSED,)), is_rag=True)
    [outcome] = score(PLAN.get("lexical_groundedness"), [case], Tools(split_sentences=split_sentences))
    marked = [answer[mark.start : mark.end] for mark in outcome.fragments if mark.part == "answer"]
    assert "Zelen\u0301y\u0301 dra\u030ck." in marked


@given(st.text(alphabet=st.sampled_from("ae\u0301\u0316\u200b\u212b\u0958가\u1100\u1161 é\ufb01")))
def test_every_place_maps_to_the_character_that_it_comes_from(text: str) -> None:
    compared = comparable_text(text)
    assert compared.text == unicodedata.normalize("NFC", text.replace("\u200b", "")) or "\u200b" in text
    positions = [compared.place(index) for index in range(len(compared.text) + 1)]
    assert positions == sorted(positions)
    assert positions[-1] == len(text)


def test_compatibility_forms_and_case_are_kept() -> None:
    assert comparable_text("ﬁ Ａ é").text == "ﬁ Ａ é"


def test_a_condition_that_names_an_invisible_character_finds_it() -> None:
    case = Case(key="k", question="q", answer=Answer(text="a\u200bb"), condition='NOT "\u200b"')
    assert comparable_case(case).case is case


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["\u0301\u0316", "e\u0301", "\u200b", "👩\u200d👧", "\u1100\u1161", "é", "\u0958"]
)
def test_time_is_linear(unit: str) -> None:
    assert_linear(lambda size: partial(comparable_text, (unit * size)[:size]), 50_000)


def test_a_letter_with_many_marks_is_one_stretch_of_the_original() -> None:
    text = "a" + "\u0301" * 40 + "b"
    compared = comparable_text(text)
    assert all(compared.span(index, index + 1)[0] < compared.span(index, index + 1)[1] for index in range(41))
    assert compared.span(len(compared.text) - 1, len(compared.text)) == (41, 42)


def test_a_place_beyond_the_text_is_the_end_of_the_original() -> None:
    """Four characters of the original are two in the compared text."""
    compared = comparable_text("e\u0301\u200bx")
    assert compared.text == "\u00e9x"
    assert [compared.place(index) for index in (0, 1, 2, 9)] == [0, 3, 4, 4]
    assert comparable_text("ex").place(1) == 1
