"""Questions for definitions, persons, lists and reasons."""

from __future__ import annotations

import pytest

from support.drafts import drafts, passes


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "A standing order is an instruction to pay a fixed sum.",
            "What is a standing order?",
            "an instruction to pay a fixed sum",
        ),
        (
            "The term chargeback means a refund by the scheme.",
            "What does “chargeback” mean?",
            "a refund by the scheme",
        ),
        (
            "The code E24 means that the drain hose is blocked.",
            "What does the code E24 mean?",
            "the drain hose is blocked",
        ),
        ("Parking fines are paid by the employee.", "Who pays parking fines?", "the employee"),
        (
            "Repairs may only be carried out by authorised technicians.",
            "Who may carry out repairs?",
            "authorised technicians",
        ),
        (
            "The principal risks are drought, cyber attacks and rising prices.",
            "What are the principal risks?",
            "drought, cyber attacks and rising prices",
        ),
        (
            "The regulator imposed a penalty because pollution targets were missed.",
            "Why did the regulator impose a penalty?",
            "because pollution targets were missed",
        ),
        (
            "If you forget a dose, take the tablet as soon as possible.",
            "What should you do if you forget a dose?",
            "take the tablet as soon as possible",
        ),
        ("The tablets are manufactured in Brno.", "Where are the tablets manufactured?", "in Brno"),
    ],
)
def test_simple_factual(sentence: str, question: str, answer: str) -> None:
    (draft,) = drafts("simple_factual", sentence)
    assert (draft.question, draft.answer, draft.evidence) == (question, sentence, sentence)
    assert passes(draft, sentence)
    assert passes(draft, answer)
    assert not passes(draft, "I do not know.")


def test_the_condition_of_a_definition_has_its_quantity() -> None:
    (draft,) = drafts(
        "simple_factual", "A business trip is a journey of more than 30 km from the normal office."
    )
    assert passes(draft, "A journey of over 30 kilometres from the normal office.")
    assert not passes(draft, "A journey of more than 300 km from the normal office.")


def test_part_of_a_list_is_no_answer_to_what_it_consists_of() -> None:
    sentence = "The committee consists of five members, three of whom are independent of the festival."
    assert drafts("simple_factual", sentence) == []
    assert [draft.question for draft in drafts("numerical_reasoning", sentence)] == [
        "How many members does the committee consist of?"
    ]


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        (
            "A reminder is sent when an instalment is seven days late.",
            "When an instalment is 7 days late.",
            "When an instalment is 9 days late.",
        ),
        ("A beginners' course consists of twelve lessons.", "It has 12 lessons.", "It has 10 lessons."),
    ],
)
def test_a_number_word_of_a_fact_may_be_written_in_digits(sentence: str, right: str, wrong: str) -> None:
    (draft,) = drafts("simple_factual", sentence)
    assert passes(draft, right)
    assert not passes(draft, wrong)


def test_who_asks_for_persons_and_bodies_only() -> None:
    questions = [
        draft.question
        for draft in drafts(
            "simple_factual",
            "Zone B covers the station quarter between the lane and the railway.",
            "Green Card covers accidents in every country of the Union.",
            "The green line on the map is a card.",
            "Helen Marsh has chaired the board since 2019.",
        )
    ]
    assert [question for question in questions if question.startswith("Who")] == [
        "Who has chaired the board since 2019?"
    ]


def test_who_has_a_singular_verb_and_an_object() -> None:
    questions = [
        draft.question
        for sentence in ("The trustees have approved a budget for the ward.", "The panel meets once a month.")
        for draft in drafts("simple_factual", sentence)
    ]
    assert questions == ["Who has approved a budget for the ward?"]


def test_a_condition_that_does_not_say_what_happens_is_not_asked_about() -> None:
    assert drafts("simple_factual", "If you cannot come, cancel the class four hours before.") == []
    assert drafts("simple_factual", "If nobody answers within five minutes, call the number below.") == []


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("The Equipment remains our property.", id="a thing in capitals is nobody"),
        pytest.param("The club may exclude a member for repeated breaches.", id="what it may do"),
        pytest.param("You will need a screwdriver, a spanner and a hammer.", id="what for"),
        pytest.param("Taking pictures requires the permission of everybody in the frame.", id="an activity"),
        pytest.param(
            "Calm dogs on leads are welcome on the terrace, among the vines and in the shop.",
            id="how they are",
        ),
        pytest.param(
            "Young visitors are welcome when accompanied by an adult.", id="a condition, not a time"
        ),
        pytest.param("The softener calculates when to regenerate.", id="an object, not a time"),
    ],
)
def test_no_question_is_asked_that_reads_as_another_one(sentence: str) -> None:
    assert drafts("simple_factual", sentence) == []
