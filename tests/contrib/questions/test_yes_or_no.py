"""Questions that are answered by yes or no."""

from __future__ import annotations

import pytest

from support.drafts import ELSEWHERE, drafts, passes


@pytest.mark.parametrize(
    ("sentence", "yes", "no"),
    [
        (
            "The card costs £5.00.",
            "Does the card cost £5.00?",
            "Does the card cost £7.50?",
        ),
        (
            "Claims must be submitted within 30 days.",
            "Must claims be submitted within 30 days?",
            "Must claims be submitted within 15 days?",
        ),
        (
            "Damaged items must be kept for at least 20 days.",
            "Must damaged items be kept for at least 20 days?",
            "Must damaged items be kept for at least 30 days?",
        ),
        (
            "Customers may withdraw up to £500.",
            "May customers withdraw up to £500?",
            "May customers withdraw up to £750?",
        ),
    ],
)
def test_a_question_to_be_answered_by_no_is_logically_false(sentence: str, yes: str, no: str) -> None:
    (first,) = drafts("yes_or_no", sentence, elsewhere=())
    other = "Zinc wire costs £1."
    (_, second) = drafts("yes_or_no", other, sentence, elsewhere=())
    assert (first.question, first.answer) == (yes, f"Yes. {sentence}")
    assert (second.question, second.answer) == (no, f"No. {sentence}")
    assert passes(second, "No, that is wrong.")
    assert not passes(second, "Yes, it is. No doubt.")


@pytest.mark.parametrize(
    "sentence",
    [
        "The fee is not charged to students.",
        "The display may dim after 30 seconds.",
        "More than 30 km make a journey a trip.",
        "The works supply 487,000 people in the districts of Brent, Castle, Saltby and Tavern.",
    ],
)
def test_unclear_statements_make_no_question_of_yes_or_no(sentence: str) -> None:
    assert drafts("yes_or_no", sentence) == []


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "The battery retains at least 70% of its capacity.",
            "Does the battery retain at least 70% of its capacity?",
        ),
        ("The range is between 60 and 110 km.", "Is the range between 60 and 110 km?"),
        (
            "A quorum is reached when 25 members are present.",
            "Is a quorum reached when 25 members are present?",
        ),
        ("A dividend was paid for 2024.", "Was a dividend paid for 2024?"),
    ],
)
def test_a_statement_whose_false_form_is_unclear_is_confirmed_whatever_the_balance(
    sentence: str, question: str
) -> None:
    """A quorum that is reached with 25 members is reached with 38: no other number is surely wrong."""
    results = drafts("yes_or_no", "Zinc wire costs £1.", sentence, elsewhere=ELSEWHERE)
    assert (results[-1].question, results[-1].answer) == (question, f"Yes. {sentence}")


def test_always_yes_is_right_half_of_the_time() -> None:
    sentences = tuple(
        f"The {noun} costs £{number}.00." for number, noun in enumerate(("card", "box", "book", "pen"), 3)
    )
    answers = [draft.answer.split(".")[0] for draft in drafts("yes_or_no", *sentences, elsewhere=())]
    assert answers.count("Yes") == answers.count("No") == 2


def test_your_things_are_mine_in_a_question() -> None:
    (draft,) = drafts("yes_or_no", "Your contribution remains at 8.2 percent of salary.")
    assert draft.question == "Does my contribution remain at 8.2 percent of salary?"
