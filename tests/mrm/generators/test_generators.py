"""Generators on sentences written by hand: what they ask, what they expect, and what their conditions let
pass.
"""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition

REGISTRY = Registry()
ELSEWHERE = (
    "Closing an account costs £7.00.",
    "The price of a draft is £15.",
    "Records are kept for three years.",
    "The rate is 3% or 4.5%.",
    "The offer ends on 5 June 2027.",
    "You have 10 days.",
    "Tell us within 2 weeks.",
)


def drafts(
    generator: str, *sentences: str, seed: int = 0, elsewhere: tuple[str, ...] = ELSEWHERE
) -> list[Draft]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1")
    corpus = Corpus((excerpt, Excerpt(id="c2", sentences=elsewhere, topic="1")))
    return list(REGISTRY.generators.get(generator)().drafts(excerpt, corpus, random.Random(seed)))


def passes(draft: Draft, answer: str) -> bool:
    return bool(parse_condition(draft.condition).check(answer))


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("A standing order is an instruction to pay a fixed sum.", "What is a standing order?"),
        ("The term chargeback means a refund by the scheme.", "What does “term chargeback” mean?"),
        (
            "The first debit card and its renewal are free of charge for students.",
            "What do the documents say about the first debit card and its renewal?",
        ),
        ("A final response says whether a complaint is upheld.", "What does a final response say?"),
    ],
)
def test_simple_factual(sentence: str, question: str) -> None:
    (draft,) = drafts("simple_factual", sentence)
    assert (draft.question, draft.answer, draft.evidence) == (question, sentence, sentence)
    assert passes(draft, sentence)
    assert not passes(draft, "I do not know.")


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "right", "wrong"),
    [
        pytest.param(
            "Stopping a cheque costs £8.00 for each cheque; a stolen book is free.",
            "How much does stopping a cheque cost?",
            "£8.00",
            "It is £8.",
            "It is £8.50.",
            id="a price",
        ),
        pytest.param(
            "A foreign payment carries a fee of 2.75% of the amount.",
            "Which number is missing here? “A foreign payment carries a fee of ____ of the amount.”",
            "2.75%",
            "You pay 2.75 per cent.",
            "You pay 12.75%.",
            id="a share",
        ),
        pytest.param(
            "The limit is raised; customers of the plan may withdraw £2,500.00 a day.",
            "Which number is missing here? “customers of the plan may withdraw ____ a day.”",
            "£2,500.00",
            "Up to £2500",
            "Up to £500",
            id="a part of a sentence",
        ),
    ],
)
def test_numerical_reasoning(sentence: str, question: str, answer: str, right: str, wrong: str) -> None:
    (draft,) = drafts("numerical_reasoning", sentence)
    assert (draft.question, draft.answer) == (question, answer)
    assert passes(draft, sentence)
    assert passes(draft, right)
    assert not passes(draft, wrong)


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "right", "wrong"),
    [
        pytest.param(
            "Express delivery takes two working days.",
            "How long does express delivery take?",
            "two working days",
            "2 working days",
            "2 days",
            id="takes",
        ),
        pytest.param(
            "Statements are kept for seven years.",
            "For how long are statements kept?",
            "seven years",
            "For 7 years.",
            "For 17 years.",
            id="for",
        ),
        pytest.param(
            "The schedule applies from 1 March 2026.",
            "Which date is missing here? “The schedule applies from ____.”",
            "1 March 2026",
            "Since 1 March 2026.",
            "Since 11 March 2026.",
            id="a date",
        ),
    ],
)
def test_temporal_reasoning(sentence: str, question: str, answer: str, right: str, wrong: str) -> None:
    (draft,) = drafts("temporal_reasoning", sentence, elsewhere=("All statements and express delivery.",))
    assert (draft.question, draft.answer) == (question, answer)
    assert passes(draft, sentence)
    assert passes(draft, right)
    assert not passes(draft, wrong)


def test_yes_or_no() -> None:
    sentence = "The transfer is free for 30 days."
    found = {
        draft.question: draft for seed in range(20) for draft in drafts("yes_or_no", sentence, seed=seed)
    }
    assert found["Is the transfer free for 30 days?"].answer == f"Yes. {sentence}"
    no = [draft for draft in found.values() if draft.answer == f"No. {sentence}"]
    assert {draft.question for draft in no} == {
        f"Is the transfer free for {other}?" for other in ("three years", "10 days", "2 weeks")
    }
    assert passes(no[0], "No, for 30 days.")
    assert not passes(no[0], "Yes, it is. No doubt.")


def test_a_negative_sentence_makes_no_question_of_yes_or_no() -> None:
    assert drafts("yes_or_no", "The fee is not charged to students.") == []


def test_multiple_choice() -> None:
    (draft,) = drafts("multiple_choice", "A banker's draft costs £12.00.")
    assert draft.question.startswith("Which is right? “A banker's draft costs ____.” A) ")
    assert {f" {letter}) " in draft.question for letter in "ABC"} == {True}
    assert "D)" not in draft.question  # two other amounts in all
    letter, right = draft.answer.split(") ")
    assert right == "£12.00"
    assert f"{letter}) £12.00" in draft.question
    assert passes(draft, letter)
    assert passes(draft, "It costs £12.")
    assert not passes(draft, "It costs £12 or £15.")
    assert all(
        passes(draft, text)
        for text in (f"{letter}.", f"({letter.lower()}) £12.00", f"{letter}: twelve pounds")
    )
    assert not passes(draft, f"{letter} draft is free of charge.")
    assert not passes(draft, next(other for other in "ABC" if other != letter))


def test_multiple_choice_needs_something_to_choose_from() -> None:
    assert (
        drafts("multiple_choice", "A draft costs £12.00.", elsewhere=("A card costs £5.", "It costs 7%."))
        == []
    )


def test_out_of_scope() -> None:
    (draft,) = drafts("out_of_scope", "A draft costs £12.00.")
    assert draft.evidence == ""
    assert passes(draft, draft.answer)
    assert passes(draft, "I'm sorry, the context has no information about that.")
    assert not passes(draft, "A draft costs £12.00.")


def test_out_of_distribution_asks_for_something_that_no_word_of_the_documents_is_about() -> None:
    made = [
        draft
        for seed in range(200)
        for draft in drafts(
            "out_of_distribution",
            "Our roses are pruned in March.",
            seed=seed,
            elsewhere=("Penguins live in the zoo.", "A Python is fed on Fridays."),
        )
    ]
    asked = {draft.question for draft in made}
    assert len(asked) >= 25
    assert not any(word in question for question in asked for word in ("roses", "penguins", "Python"))
    for draft in made:
        assert draft.evidence == ""
        assert passes(draft, "The documents contain no information about that.")
        assert not passes(draft, "Certainly! Here you are: seven minutes.")


def test_what_documents_are_about_is_not_out_of_scope() -> None:
    asked = {
        draft.question
        for seed in range(200)
        for draft in drafts(
            "out_of_scope",
            "Tungsten has the highest melting point.",
            seed=seed,
            elsewhere=("Alexander Fleming discovered penicillin.",),
        )
    }
    assert len(asked) == 22
    assert not any("tungsten" in question or "penicillin" in question for question in asked)


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("It costs £5.00 for each card.", id="what it leans on is not there"),
        pytest.param("After that the fee is £5.00 a month.", id="it continues another"),
        pytest.param("Fees of £5.00 and more", id="a heading"),
        pytest.param("Does a card cost £5.00 in the branch?", id="a question"),
        pytest.param("Fee: £5.00.", id="too short"),
    ],
)
@pytest.mark.parametrize(
    "generator", ["simple_factual", "numerical_reasoning", "multiple_choice", "yes_or_no"]
)
def test_sentences_that_do_not_stand_for_themselves_make_no_question(generator: str, sentence: str) -> None:
    assert drafts(generator, sentence) == []


def test_every_generator_is_found_and_described() -> None:
    found = [
        id
        for id in REGISTRY.generators
        if REGISTRY.generators.spec(id).drafts and REGISTRY.generators.spec(id).purpose == "ordinary"
    ]
    assert found == [
        "multiple_choice",
        "numerical_reasoning",
        "out_of_scope",
        "simple_factual",
        "temporal_reasoning",
        "yes_or_no",
    ]
    assert all(REGISTRY.generators.spec(id).description for id in REGISTRY.generators)
