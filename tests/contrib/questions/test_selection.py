"""Drafts that a reader understands with one answer."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from support.pipelines import PIPELINE, needs_pipeline

pytestmark = [needs_pipeline, pytest.mark.filterwarnings("default")]

REPORT = (
    "TARN WATER",
    "Annual Report 2024",
    "Tarn Water serves the north.",
    "We invested £42 million.",
    "Our aim is clear.",
    "We are proud of our work.",
)


def questions(
    *sentences: str, kinds: Sequence[str] = ("numerical_reasoning", "temporal_reasoning")
) -> list[str]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1", title=sentences[0])
    corpus = Corpus((excerpt,), PIPELINE)
    selection = DraftSelection(corpus)
    drafts = [
        selection.clear_draft(draft, excerpt)
        for id in kinds
        for draft in Registry().generators.get(id)().drafts(excerpt, corpus, random.Random(0))
    ]
    # Without the section that a short question names.
    bare = [bare_question(draft.question) for draft in drafts if draft is not None]
    return [text[0].upper() + text[1:] for text in bare]


def test_the_organisation_of_a_report_is_named_for_we() -> None:
    assert questions(*REPORT) == ["How much did Tarn Water invest?"]


def test_a_report_of_an_unknown_organisation_is_asked_what_the_company_did() -> None:
    assert questions("Annual Report 2024", "Highlights", *REPORT[3:]) == ["How much did the company invest?"]


def test_an_amount_that_the_next_sentence_changes_is_not_asked_for() -> None:
    first = "Full-time employees receive 27 days of annual leave."
    assert questions("Leave", first) == ["How many days of annual leave do full-time employees receive?"]
    assert questions("Leave", first, "After five years of service the entitlement rises to 30 days.") == []


def test_an_instruction_with_an_exception_in_the_next_sentence_is_not_asked_for() -> None:
    first = "If you forget a dose, apply it as soon as you remember."
    kinds = ["simple_factual"]
    assert questions("Each dose", first, kinds=kinds) == ["What should I do if I forget a dose?"]
    exception = "If the next dose is near, skip the missed one."
    assert "What should I do if I forget a dose?" not in questions("Each dose", first, exception, kinds=kinds)
