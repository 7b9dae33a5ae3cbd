"""Forms of amounts and of their complements: each with a neighbour that is refused."""

from __future__ import annotations

import pytest

from support import drafts
from support.pipelines import PIPELINE, needs_pipeline

pytestmark = [needs_pipeline, pytest.mark.filterwarnings("default")]


def answers(*sentences: str) -> dict[str, str]:
    return drafts.answers(*sentences, pipeline=PIPELINE, title="Club rules")


@pytest.mark.parametrize(
    ("sentences", "question", "answer"),
    [
        (
            ("Claims", "Repair the fence within 30 days of the delivery and keep the receipt."),
            "Within how many days of the delivery should I repair the fence?",
            "30 days",
        ),
        (
            ("Both sides may end the lease with four weeks' notice.",),
            "With how many weeks' notice may both sides end the lease?",
            "four weeks",
        ),
        (
            ("Online sales reached £115 million, an increase of 14 per cent.",),
            "How much did online sales reach?",
            "£115 million",
        ),
        (
            ("For crowns, bridges and dentures we ask for a deposit of 40%.",),
            "What deposit do you ask for crowns, bridges and dentures?",
            None,
        ),
        (
            ("A fee of £300 is charged for the first loan and £75 for each further loan.",),
            "What fee is charged for the first loan?",
            "£300",
        ),
        (
            ("No lifeguard may remain at the poolside for more than 60 minutes.",),
            "For how many minutes at most may a lifeguard remain at the poolside?",
            "60 minutes",
        ),
        (
            ("Retakes", "Students may inspect their papers within four weeks of the results."),
            "Within how many weeks of the results may students inspect their papers?",
            "four weeks",
        ),
        (
            ("Vouchers for visitors, £14.",),
            "How much do vouchers for visitors cost?",
            "£14",
        ),
        (
            ("Before the winter you must:", "clean the water filter every six weeks;", "call us."),
            "How often must I clean the water filter before the winter?",
            "every six weeks",
        ),
    ],
    ids=[
        "two verbs", "notice", "apposition", "list before a pronoun", "two cases", "denied limit", "section",
        "price", "item",
    ],
)  # fmt: skip
def test_an_amount_is_asked_for_with_its_complement(
    sentences: tuple[str, ...], question: str, answer: str | None
) -> None:
    assert answers(*sentences).get(question) == answer


@pytest.mark.parametrize(
    ("refused", "neighbour", "words"),
    [
        (
            ("Give 10 ml per kilogram of body weight.",),
            ("Each spoon holds 10 ml of the powder.",),
            "10 ml|ml of",
        ),
        (
            ("Retakes", "The drill is not required of coxes under fourteen."),
            ("Retakes", "The capsize drill is not required of coxes under fourteen."),
            "drill",
        ),
        (
            ("A member who enters it pays £50 a year.",),
            ("A member who enters the race pays £50 a year.",),
            "enters",
        ),
        (
            ("Resignation is by letter before 31 August.",),
            ("Resignation is possible by letter before 31 August.",),
            "resignation",
        ),
        (
            ("A pump costs any period in which the probes, at two or more of three sites, are dry.",),
            ("Visitors pay £5 a day.",),
            "probes",
        ),
    ],
    ids=["measure of nothing", "open subject", "person as it", "phrase after be", "cut clause"],
)
def test_a_question_that_lacks_its_complement_is_refused(
    refused: tuple[str, ...], neighbour: tuple[str, ...], words: str
) -> None:
    rest = [f"Rule {number} is kept in the office." for number in range(30)]
    first = words.partition("|")[0]
    assert not [question for question in answers(*refused, *rest) if first in question.lower()]
    assert answers(*neighbour, *rest)
