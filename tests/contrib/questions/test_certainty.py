"""Forms of questions that are refused as uncertain, with a sentence of each form that is kept."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from pytest_evalstudio.contrib.questions.checks.certainty import refusal_reason
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from support.drafts import drafts
from support.pipelines import PIPELINE, needs_pipeline

KINDS = ("numerical_reasoning", "temporal_reasoning", "simple_factual", "yes_or_no")


class Example(NamedTuple):
    evidence: str
    question: str
    answer: str


RULES = {
    "negative subject": (
        Example(
            "No trips take place in the first week, in the last two weeks, or on days when reports are due.",
            "What happens when reports are due?",
            "no trips take place in the first week",
        ),
        Example(
            "No interest is charged if you repay the balance by the due date.",
            "What happens if you repay the balance by the due date?",
            "no interest is charged",
        ),
    ),
    "two times": (
        Example(
            "The advice was lifted on 10 July, once three samples had been clear.",
            "When was the advice lifted on 10 July?",
            "once three samples had been clear",
        ),
        Example("The advice was lifted on 10 July.", "When was the advice lifted?", "on 10 July"),
    ),
    "stranded words": (
        Example("A visit costs £95 plus materials.", "What plus materials does a visit cost?", "£95"),
        Example("A visit costs £95 plus materials.", "How much does a visit cost plus materials?", "£95"),
    ),
    "missing limit": (
        Example(
            "Members may pause once a year, provided that no instalment is late.",
            "How often may members pause?",
            "once a year",
        ),
        Example(
            "Members may pause once a year and must be adults unless a parent signs.",
            "How often may members pause?",
            "once a year",
        ),
    ),
    "missing condition": (
        Example(
            "In the event of fire, members leave the building and gather at the bicycle shed.",
            "Where do members gather?",
            "at the bicycle shed",
        ),
        Example(
            "In the event of fire, members gather at the bicycle shed.",
            "Where do members gather in the event of fire?",
            "at the bicycle shed",
        ),
    ),
    "fragment as answer": (
        Example("Members in the north pay a £9.50 supplement.", "What supplement do members pay?", "a £9.50"),
        Example(
            "Members in the north pay a supplement of £9.50.", "What supplement do members pay?", "£9.50"
        ),
    ),
}


def reason(example: Example) -> str:
    return refusal_reason(
        Draft(question=example.question, answer=example.answer, condition="", evidence=example.evidence)
    )


@pytest.mark.parametrize(("code", "refused", "neighbour"), [(code, *pair) for code, pair in RULES.items()])
def test_an_uncertain_form_is_refused_and_its_neighbour_kept(
    code: str, refused: Example, neighbour: Example
) -> None:
    assert reason(refused) == code
    assert reason(neighbour) == ""


def questions(*sentences: str) -> list[str]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1", title="Rules")
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
            ("The average was 43 milligrams, and the old borehole stood idle.", "It was built in 1962."),
            ("The old borehole supplies the town.", "It was built in 1962."),
            "built",
        ),
        (("My predecessor retired on 30 June 2023.",), ("The chair retired on 30 June 2023.",), "retire"),
    ],
)
def test_a_document_gives_no_question_of_an_uncertain_form(
    refused: tuple[str, ...], neighbours: tuple[str, ...], words: str
) -> None:
    assert not [text for text in questions(*refused) if words in text]
    assert [text for text in questions(*neighbours) if words in text]


@needs_pipeline
@pytest.mark.filterwarnings("default")
def test_a_noun_that_names_no_quantity_is_not_asked_for_with_what() -> None:
    wordings = questions("Compliance examines a sample of 40 cases each quarter.")
    assert not [text for text in wordings if text.startswith("What sample")]
    assert "What discount do members receive?" in questions("Members receive a discount of 10%.")


@needs_pipeline
@pytest.mark.filterwarnings("default")
def test_the_bound_of_an_attribute_is_in_the_answer_without_its_preposition() -> None:
    results = drafts("numerical_reasoning", "Balconies can carry a load of up to 300 kg.", pipeline=PIPELINE)
    assert [(draft.question, draft.answer) for draft in results] == [
        ("What load can balconies carry?", "up to 300 kg")
    ]
