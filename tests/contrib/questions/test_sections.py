"""Sections of documents, and questions that name the one that explains them."""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.contrib.questions.checks.phrasing import is_natural
from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.checks.sections import Sections
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry

SENTENCES = (
    "POOL RULES",
    "1. Scope These rules apply to all guests.",
    "2. Lost cards The replacement costs £8.",
    "10.",
    "Complaints Complaints are answered within 15 days.",
    "## Fork-lift trucks",
    "The speed limit is 8 km/h.",
    "The reservoirs are very cold and deep.",
)


@pytest.mark.parametrize(
    ("number", "heading"),
    [(1, ""), (2, "Lost cards"), (4, "Complaints"), (6, "Fork-lift trucks"), (7, "Fork-lift trucks")],
)
def test_each_sentence_is_under_the_last_heading_that_says_something(number: int, heading: str) -> None:
    assert Sections(SENTENCES).heading(SENTENCES[number]) == heading


@pytest.mark.parametrize(
    ("line", "heading"), [("When do I have to wait?", "When do I have to wait?"), ("Why?", "Giving blood")]
)
def test_a_heading_may_be_a_question(line: str, heading: str) -> None:
    sentences = ("Leaflet", "Giving blood", "You are welcome.", line, "After a cold you wait for a week.")
    assert Sections(sentences).heading(sentences[-1]) == heading


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("3. GARDEN WASTE", "Garden Waste"),
        ("B. ON COLLECTION DAY", "On Collection Day"),
        ("4. A Guide", "A Guide"),
    ],
)
def test_a_heading_keeps_its_first_letter(line: str, heading: str) -> None:
    sentences = (line.partition(" ")[0], line.partition(" ")[2], "Bins cost £28.")
    headings = [Sections(lines).heading("Bins cost £28.") for lines in (sentences, (line, sentences[2]))]
    assert heading in headings


def selected(*titles: str, kind: str = "numerical_reasoning") -> list[str]:
    excerpts = [Excerpt(id=title, sentences=SENTENCES, topic="1", title=title) for title in titles]
    corpus = Corpus(tuple(excerpts))
    selection = DraftSelection(corpus)
    return [
        clear.question
        for draft in Registry().generators.get(kind)().drafts(excerpts[0], corpus, random.Random(0))
        if (clear := selection.clear_draft(draft, excerpts[0]))
    ]


def test_a_question_names_the_section_that_explains_it_and_the_document_if_there_are_several() -> None:
    assert selected("POOL RULES") == [
        "Under “Lost cards”, how much does the replacement cost?",
    ]
    assert selected("POOL RULES", "Hall")[0] == (
        "Under “Lost cards” in “Pool Rules”, how much does the replacement cost?"
    )


def test_a_section_explains_no_description() -> None:
    assert selected("POOL RULES", kind="simple_factual") == []


def test_checks_of_the_wording_leave_the_section_out() -> None:
    question = "Under “Fork-lift trucks” in “Pool Rules”, what is the speed limit?"
    assert bare_question(question) == "what is the speed limit?"
    assert is_natural(question)
    assert not is_natural("What is the speed limit such as this?")


def test_a_short_question_names_one_of_several_documents() -> None:
    sentences = (
        "Tariff",
        "Reconnection costs £12.",
        "The display shows the outdoor temperature in the hall.",
    )
    first = Excerpt(id="1", sentences=sentences, topic="1", title="Tariff")
    corpus = Corpus((first, Excerpt(id="2", sentences=("Ask us.",), topic="1", title="Hall")))
    (draft,) = Registry().generators.get("numerical_reasoning")().drafts(first, corpus, random.Random(0))
    clear = DraftSelection(corpus).clear_draft(draft, first)
    assert clear is not None
    assert clear.question == "According to “Tariff”, how much does reconnection cost?"


@pytest.mark.parametrize(
    ("refused", "natural"),
    [
        ("Can most are moved within an hour?", "Can most parcels be moved within an hour?"),
        (
            "How many days may a holder change from 45 to at any time?",
            "May a holder change from 45 to 95 days?",
        ),
        ("Is the maximum balance £250 or £400?", "Is the maximum balance £400?"),
        ("Does the option carry no right of access, except?", "Does the option carry a right of access?"),
        ("May a child travel unless an adult comes along?", "May a child travel alone?"),
        ("What happens if I aren't in?", "What happens if I am not in?"),
        ("How many months do I have?", "How many months do I have to reply?"),
        ("How long is advice free by you?", "Is advice free after an operation carried out by you?"),
    ],
)
def test_forms_that_graders_refused_are_no_questions(refused: str, natural: str) -> None:
    assert not is_natural(refused)
    assert is_natural(natural)
