"""Forms of quantities, conditions and persons of long prose, and their misreadings."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from support.pipelines import PIPELINE, needs_pipeline

pytestmark = [needs_pipeline, pytest.mark.filterwarnings("default")]

KINDS = ("numerical_reasoning", "temporal_reasoning", "simple_factual", "yes_or_no")


def answers(*sentences: str, kinds: Sequence[str] = KINDS) -> dict[str, str]:
    """Return the answers of the clear questions for sentences of a document."""
    excerpt = Excerpt(id="c1", sentences=("Terms of hire", *sentences), topic="1", title="Terms of hire")
    corpus = Corpus((excerpt,), PIPELINE)
    selection = DraftSelection(corpus)
    drafts = [
        selection.clear_draft(draft, excerpt)
        for id in kinds
        for draft in Registry().generators.get(id)().drafts(excerpt, corpus, random.Random(0))
    ]
    return {draft.question: draft.answer for draft in drafts if draft is not None}


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "Group classes can be booked seven days in advance.",
            "How many days in advance can group classes be booked?",
            "seven days",
        ),
        (
            "We inspect the flat with you ten days before you leave.",
            "How many days before I leave do you inspect the flat with me?",
            "ten days",
        ),
        (
            "A deposit of €100 is taken for each vehicle.",
            "What deposit is taken for each vehicle?",
            "€100",
        ),
        (
            "Line managers must give their reasons in writing within ten business days.",
            "Within how many business days must line managers give their reasons in writing?",
            "ten business days",
        ),
        (
            "Those who need more time can book an additional day at a cost of €12.",
            "At what cost can those who need more time book an additional day?",
            "€12",
        ),
        (
            "A cleaning crew of ten sorts the goods, and a deposit of €50 is taken for each key.",
            "What deposit is taken for each key?",
            "€50",
        ),
        (
            "The hall (see the plan) seats 40 people.",
            "How many people does the hall seat?",
            "40 people",
        ),
    ],
    ids=["in advance", "before a clause", "subject", "within", "those who", "second part", "brackets"],
)  # fmt: skip
def test_a_plain_fact_of_a_sentence_is_asked_for(sentence: str, question: str, answer: str) -> None:
    assert answers(sentence).get(question) == answer


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Turnover was 74 million pounds and operating costs were 56 million pounds.", "costs?"),
        ("Repairs are carried out in Kassel and take on average eight working days.", "are repairs take"),
        ("Applicants must be enrolled here and be under 30 on the closing date.", "be be"),
        ("Nobody may receive a scholarship twice.", "nobody"),
        ("Full backups are kept for 35 days and monthly backups for seven years.", "For how many years"),
        ("The samples are measured with the photometer at 260 nm.", "torque"),
        ("Sleeping bags are not permitted on account of the risk of bedbugs.", "account"),
        ("You may stay for as long as three weeks.", "For as"),
        ("We will refund it, provided that you claim within 28 days.", "provided"),
    ],
    ids=[
        "lost subject", "auxiliary", "repeated verb", "nobody", "two periods", "unit",
        "reason of a denial", "as long as", "condition",
    ],
)  # fmt: skip
def test_a_misread_clause_gives_no_question(sentence: str, words: str) -> None:
    assert not [question for question in answers(sentence) if words in question]


def test_a_pronoun_does_not_stand_for_what_is_asked_for() -> None:
    assert "How many centimetres of clear space behind it should there be?" not in answers(
        "There should be at least 30 centimetres of clear space behind it."
    )


def test_a_pronoun_behind_a_case_stands_for_its_subject() -> None:
    questions = answers("If the red plug is broken, it must be replaced by an electrician within two days.")
    assert questions[
        "Must the red plug be replaced by an electrician within two days if it is broken?"
    ].startswith("Yes.")


def test_a_definite_noun_gets_its_name_from_the_sentence_before() -> None:
    questions = answers(
        "The hall is let by a meeting of the sports committee.",
        "Applicants from the village hear the outcome of the vote within 15 days of the meeting.",
    )
    assert any("of the meeting of the sports committee" in question for question in questions)


def test_a_verb_without_its_object_gives_no_question() -> None:
    assert not answers("We reply within 20 working days.")
    assert answers("We reply to complaints about noise within 20 working days.")


def test_a_person_is_no_it() -> None:
    questions = answers("Mrs Okafor opened the meeting.", "It now runs six community larders.")
    assert not [question for question in questions if "larders" in question]
