"""Drafts that a reader understands with one answer."""

from __future__ import annotations

import random

from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.mrm.steps.test_generation.clarity import clear_candidates
from pytest_evalstudio.mrm.steps.test_generation.generating import Candidate

REPORT = (
    "TARN WATER",
    "Annual Report 2024",
    "Tarn Water serves the north.",
    "We invested £42 million.",
    "Our aim is clear.",
    "We are proud of our work.",
)


def questions(*sentences: str) -> list[str]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1", title=sentences[0])
    corpus = Corpus((excerpt,))
    drafts = [
        Candidate(id, excerpt, draft)
        for id in ("numerical_reasoning", "temporal_reasoning")
        for draft in Registry().generators.get(id)().drafts(excerpt, corpus, random.Random(0))
    ]
    return [candidate.draft.question for candidate in clear_candidates(drafts, corpus)]


def test_the_organisation_of_a_report_is_named_for_we() -> None:
    assert questions(*REPORT) == ["How much did Tarn Water invest?"]


def test_a_report_of_an_unknown_organisation_is_not_asked_what_we_did() -> None:
    assert questions("Annual Report 2024", "Highlights", *REPORT[3:]) == []


def test_an_amount_that_the_next_sentence_changes_is_not_asked_for() -> None:
    first = "Full-time employees receive 27 days of annual leave."
    assert questions("Leave", first) == ["How many days of annual leave do full-time employees receive?"]
    assert questions("Leave", first, "After five years of service the entitlement rises to 30 days.") == []
