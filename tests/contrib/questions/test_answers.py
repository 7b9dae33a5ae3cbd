"""Answers that people expect to their own questions, compared with the documents."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.questions.checks.answers import AnswerChecks

DOCUMENT = (
    ("Handbook of the Rowing Club",),
    ("The boathouse keeper, Tessa Moor, opens the gate at 7 a.m.",),
    ("Repairs of boats are paid by Dr Owen Pike, the treasurer of the club.",),
    ("He lives in Westbury.",),
    ("The annual subscription for adults is £120.",),
    ("A locker costs £15 a year.",),
    ("Guests may not row on Sundays.",),
    ("The club was founded in 1931.",),
    ("Boats are washed after use.",),
    ("Members must not:",),
    ("leave boats on the pontoon overnight",),
    (
        "Pairs Boat Hire per day: £30",
        "Fours Boat Hire per day: £45",
        "Pairs Boat Members: 2 Members",
        "Fours Boat Members: 4 Members",
    ),
)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        pytest.param("Who pays the repairs of boats?", "Owen Pike", "Tessa Moor", id="a person"),
        pytest.param("Who opens the gate?", "Tessa Moor, the boathouse keeper", "Dr Owen Pike", id="a title"),
        pytest.param("What is the annual subscription for adults?", "£120", "£15", id="an amount"),
        pytest.param("What is the hire of fours per day?", "£45", "£30", id="a row of a table"),
        pytest.param("May guests row on Sundays?", "No", "Yes, they may.", id="a denied question"),
        pytest.param("Are boats washed after use?", "Yes", "No", id="a confirmed question"),
        pytest.param(
            "Must members leave boats on the pontoon overnight?", "No", "Yes", id="an item of a list"
        ),
        pytest.param(
            "Who opens the gate?",
            "The boathouse keeper opens the gate.",
            "Boats are washed after use at Westbury.",
            id="a statement about something else",
        ),
    ],
)
def test_an_answer_of_another_statement_is_rejected(question: str, right: str, wrong: str) -> None:
    checks = AnswerChecks(DOCUMENT)
    assert (checks.uniqueness(question, right), checks.uniqueness(question, wrong)) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "support"),
    [
        pytest.param("£120", 1.0, id="an amount"),
        pytest.param("120 pounds", 1.0, id="in another notation"),
        pytest.param("two members", 1.0, id="a number of a table, in words"),
        pytest.param("£125", 0.0, id="an amount that is nowhere"),
        pytest.param("It is Mr Hale.", 0.0, id="a name that is nowhere"),
        pytest.param("RowPass", 0.0, id="a product that is nowhere"),
        pytest.param("Yes, he does.", 1.0, id="neither names nor amounts"),
    ],
)
def test_names_and_quantities_of_an_answer_are_in_the_documents(answer: str, support: float) -> None:
    assert AnswerChecks(DOCUMENT).support(answer) == support


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        pytest.param("What do I have to cough up each year?", "£120", id="in other words"),
        pytest.param("When did it all start?", "1931", id="without words of the documents"),
        pytest.param("Where does the treasurer live?", "Westbury", id="a pronoun's sentence"),
        pytest.param("is hire dear?", "", id="without an answer"),
    ],
)
def test_free_wording_is_spared(question: str, answer: str) -> None:
    assert AnswerChecks(DOCUMENT).uniqueness(question, answer) == 1.0


def test_documents_without_sentences_reject_nothing() -> None:
    assert AnswerChecks([]).uniqueness("Who opens the gate?", "Tessa Moor") == 1.0
