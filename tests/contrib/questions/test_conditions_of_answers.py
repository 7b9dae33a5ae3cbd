"""Conditions that follow from written answers, and words that an answer must not have."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.questions.rules.conditions import condition_of_answer, condition_without
from pytest_evalstudio.contrib.validation.steps.test_validation.method import support
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.suite import TestCase


@pytest.mark.parametrize(
    ("answer", "evidence", "right", "wrong"),
    [
        pytest.param("Yes. It is free.", "It is free.", "Yes, it is.", "No.", id="yes"),
        pytest.param("No, it is not.", "It is.", "no", "Yes, no doubt.", id="no"),
        pytest.param("B) five days", "It takes five days.", "B.", "A) five days", id="a choice"),
        pytest.param("£5.00", "It costs £5.00.", "It is £5", "It is £6", id="a quantity alone"),
        pytest.param(
            "It takes five days.", "It takes five days.", "5 days", "six days", id="a quantity in a sentence"
        ),
        pytest.param(
            "HM Treasury",
            "The scheme is run by HM  Treasury.",
            "hm treasury runs it",
            "The Bank",
            id="words of the documents",
        ),
    ],
)
def test_conditions_that_follow_from_an_answer(answer: str, evidence: str, right: str, wrong: str) -> None:
    condition = parse_condition(condition_of_answer(answer, evidence))
    assert condition.check(answer)
    assert condition.check(right)
    assert not condition.check(wrong)


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        pytest.param("It depends on the card, so please say which one.", "A card costs £5.", id="free words"),
        pytest.param("The Treasury", "The scheme is run by a bank.", id="words that stand nowhere"),
        pytest.param("From £5 to £7", "From £5 to £7.", id="two quantities"),
        pytest.param(
            "A card costs £5 " + "and so on " * 10, "A card costs £5.", id="a quantity in a long answer"
        ),
    ],
)
def test_answers_from_which_no_condition_follows(answer: str, evidence: str) -> None:
    assert condition_of_answer(answer, evidence) == ""


def test_a_written_answer_may_take_words_of_the_question() -> None:
    source = {"evidence": "Anybody may.", "source_text": "Anybody may."}
    texts = {
        "prompt": "May a pensioner open a deposit?",
        "expected_output": "A pensioner may open a deposit.",
        **source,
    }
    assert support(TestCase.model_validate({**texts, "written_by": "judge"})) == 1.0
    assert support(TestCase.model_validate(texts)) == 0.0


def test_a_word_that_must_not_come_back() -> None:
    assert condition_without("", "Zorblax") == 'NOT regexp("(?i)Zorblax")'
    assert not parse_condition(condition_without('"5"', "Zorblax")).check("zorblax 5")
    assert parse_condition(condition_without('"5"', "Zorblax")).check("5")
