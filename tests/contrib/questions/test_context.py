"""Questions that depend on the sentences around their evidence, or misread it, are refused."""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.contrib.questions.checks.phrasing import is_natural
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.contrib.questions.rules.wording import as_customer
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from support.pipelines import PIPELINE, needs_pipeline

KINDS = ("numerical_reasoning", "temporal_reasoning", "simple_factual", "yes_or_no")


def questions(*sentences: str, title: str = "Terms") -> list[str]:
    """Return the clear questions for the sentences of a document."""
    excerpt = Excerpt(id="c1", sentences=(title, *sentences), topic="1", title=title)
    corpus = Corpus((excerpt,), PIPELINE)
    selection = DraftSelection(corpus)
    checked = [
        selection.clear_draft(draft, excerpt)
        for kind in KINDS
        for draft in Registry().generators.get(kind)().drafts(excerpt, corpus, random.Random(0))
    ]
    return [draft.question for draft in checked if draft is not None]


@needs_pipeline
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("refused", "neighbours", "words"),
    [
        (
            ("An answer is posted within five working days.",),
            ("An answer to a complaint is posted within five working days.",),
            "posted",
        ),
        (
            ("Written approval is normally issued within 14 days.",),
            ("Written approval of a new shed is normally issued within 14 days.",),
            "issued",
        ),
        (
            ("The Council must give six weeks' written notice of any change.",),
            ("The Council must give six weeks' written notice of any change of the annual rent.",),
            "notice",
        ),
        (
            ("Relatives may then stay overnight.", "Bus fares are refunded for up to 10 days."),
            ("Relatives may stay overnight.", "Bus fares are refunded for up to 10 days."),
            "fares",
        ),
        (
            ("P1: the shop is closed to all customers.", "Call the duty manager within 15 minutes."),
            ("The shop is closed to all customers.", "Call the duty manager within 15 minutes."),
            "manager",
        ),
        (
            ("P2: the response time of the shop has been above 4 seconds for 20 minutes.",),
            ("The response time of the shop must stay below 4 seconds.",),
            "response",
        ),
        (
            ("Small parcels are delivered within five days, or before the weekend.",),
            ("Small parcels are delivered within five days.",),
            "parcels",
        ),
        (
            ("At 30 °C the siren sounds: leave at once.",),
            ("The siren sounds at 30 °C.",),
            "siren",
        ),
    ],
    ids=[
        "indefinite", "written", "any", "case of the sentence before", "label of the sentence before",
        "definition", "alternative", "colon",
    ],
)  # fmt: skip
def test_a_question_without_its_context_is_refused_and_its_neighbour_kept(
    refused: tuple[str, ...], neighbours: tuple[str, ...], words: str
) -> None:
    assert not [text for text in questions(*refused) if words in text]
    assert [text for text in questions(*neighbours) if words in text]


@needs_pipeline
@pytest.mark.filterwarnings("default")
def test_a_heading_that_explains_an_indefinite_noun_is_named() -> None:
    sentence = "A permit is issued by the warden within 24 hours."
    assert not questions(sentence)
    (question, *_) = questions("Guest permit", sentence)
    assert question.startswith("Under “Guest permit”, ")


@needs_pipeline
@pytest.mark.filterwarnings("default")
def test_a_standing_rule_is_asked_for_in_the_present() -> None:
    wordings = questions("Fees unpaid 30 days after delivery attract a surcharge of 5 per cent.")
    assert not [text for text in wordings if " did " in f" {text.lower()} "]


@needs_pipeline
@pytest.mark.filterwarnings("default")
def test_an_amount_of_one_is_not_asked_for_as_a_plural() -> None:
    wordings = questions("One kilogram of wood becomes 70 grams of ash.")
    assert "How many grams of ash does one kilogram of wood become?" in wordings
    assert not [text for text in wordings if text.startswith("How many kilograms")]


@needs_pipeline
@pytest.mark.filterwarnings("default")
def test_shall_is_asked_for_as_people_ask() -> None:
    assert "May late applicants be admitted during the first 20 minutes?" in questions(
        "Late applicants shall not be admitted during the first 20 minutes."
    )
    assert "Must late claims be paid within 30 days?" in questions(
        "Late claims shall be paid within 30 days."
    )


@pytest.mark.parametrize(
    ("refused", "neighbour"),
    [
        ("What happens if I don't?", "What happens if I don't pay the rent?"),
        ("Is a receipt needed as well for a claim over £50?", "Is a receipt needed for a claim over £50?"),
        ("Is only the fee kept before the event?", "Is the fee kept before the event?"),
        ("Must smaller boats call the harbour?", "Must boats smaller than 8 m call the harbour?"),
        ("May the head exclude pupils after a second?", "May the head exclude pupils after a second fight?"),
        ("When may the limit of two be relaxed?", "When may the limit of two guests be relaxed?"),
        ("Is failure to register an offence?", "What is the fine for failure to register a boat?"),
        ("Within how many days will you provided that I ask?", "Within how many days will you pay if I ask?"),
        ("What does the museum plan to in 2024?", "What does the museum plan in 2024?"),
        ("Who should inform you within 60 days?", "Who should inform you of the sale within 60 days?"),
        ("How often does the bell ring at once?", "How often does the bell ring?"),
        (
            "Who may close the account by two months' notice that ends before 1 June or after 30 November?",
            "Who may close the account by two months' notice?",
        ),
        ("For how many minutes has the load been above 5 kW?", "How long must the load be above 5 kW?"),
    ],
)  # fmt: skip
def test_a_form_with_a_lost_part_is_not_natural(refused: str, neighbour: str) -> None:
    assert not is_natural(refused)
    assert is_natural(neighbour)


def test_you_after_a_preposition_of_place_is_an_object() -> None:
    question = "What happens if dogs come towards you in the yard?"
    assert as_customer(question) == "What happens if dogs come towards me in the yard?"
    assert as_customer("What happens if you come late?") == "What happens if I come late?"
