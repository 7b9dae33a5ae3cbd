"""Lexical groundedness: unsupported words, pairs and numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.lexical_groundedness import LexicalGroundedness

Make = Callable[..., Case]
CONTEXT = ("The central bank raised its key rate by 0.25% to 5.25 percent. Banks earned $1,577 million.",)


def test_figures_by_hand(case: Make, tools: Tools) -> None:
    # words: bank raised rate | governor resigned times, 3 of 6 known; pairs: bank-raised, raised-rate,
    # rate-5.25 | governor-resigned,
    # resigned-7, 7-times, of which the source ("bank raised key rate") has the first; numbers: 5.25 and 7
    answer = case(
        "The bank raised the rate to 5.25%. The governor resigned 7 times.", context=CONTEXT, question="When?"
    )
    (outcome,) = LexicalGroundedness().score([answer], tools)
    assert outcome.scores["supported_words"] == pytest.approx(3 / 6)
    assert outcome.scores["unsupported_words"] == 3.0
    assert outcome.scores["supported_bigrams"] == pytest.approx(1 / 6)
    assert outcome.scores["worst_sentence_bigrams"] == 0.0
    assert outcome.scores["supported_numbers"] == 1 / 2
    assert outcome.reason == "unsupported words: governor, resigned, times; unsupported numbers: 7"


def test_unsupported_words_and_numbers_are_marked(case: Make, tools: Tools) -> None:
    text = "Banks earned 9 billion dollars"
    (outcome,) = LexicalGroundedness().score([case(text, context=CONTEXT)], tools)
    assert [text[fragment.start : fragment.end] for fragment in outcome.fragments] == ["9 billion dollars"]


def test_what_the_question_says_is_no_invention(case: Make, tools: Tools) -> None:
    (outcome,) = LexicalGroundedness().score(
        [case("The governor raised the rate", context=CONTEXT, question="What did the governor raise?")],
        tools,
    )
    assert outcome.scores["supported_words"] == 1.0


def test_an_answer_without_numbers_has_no_share_of_them(case: Make, tools: Tools) -> None:
    (outcome,) = LexicalGroundedness().score([case("Rates", context=CONTEXT)], tools)
    assert outcome.scores["supported_numbers"] is None
    assert outcome.scores["supported_bigrams"] is None
    assert outcome.scores["supported_words"] == 1.0


def test_function_words_alone_are_nothing_to_judge(case: Make, tools: Tools) -> None:
    (outcome,) = LexicalGroundedness().score([case("It is what it is.", context=CONTEXT)], tools)
    assert outcome.status == "not_applicable"


@pytest.mark.parametrize(
    ("answer", "context", "share"),
    [
        ("1577", "1,577", 1.0),
        ("1,577.00", "1577", 1.0),
        ("1.577 billion", "1,577 million", 1.0),
        ("$1.5m", "1,500,000", 1.0),
        ("12 percent", "12%", 1.0),
        ("the 3rd", "3", 1.0),
        ("3 rates", "three rates", 1.0),
        ("15", "1,577", 0.0),
        ("2,023", "2024", 0.0),
        ("0.50", ".5", 1.0),
    ],
)
def test_numbers_are_compared_by_value(
    case: Make, tools: Tools, answer: str, context: str, share: float
) -> None:
    (outcome,) = LexicalGroundedness().score([case(answer, context=(context,), question="?")], tools)
    assert outcome.scores["supported_numbers"] == share


def test_a_spelled_number_is_supported_by_its_digits(case: Make, tools: Tools) -> None:
    (outcome,) = LexicalGroundedness().score(
        [case("seven governors", context=("7 governors",), question="?")], tools
    )
    assert outcome.scores["supported_words"] == 1.0


def test_a_leaked_number_is_not_repeated_in_pieces(case: Make, tools: Tools) -> None:
    (outcome,) = LexicalGroundedness().score([case("SSN 219-09-9999", context=CONTEXT)], tools)
    assert "9999" not in outcome.reason


def test_scripts_without_blanks_are_compared_by_characters(case: Make, tools: Tools) -> None:
    (outcome,) = LexicalGroundedness().score([case("東京", context=("首都は東京です",), question="?")], tools)
    assert outcome.scores["supported_words"] == 1.0
