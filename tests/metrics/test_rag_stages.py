"""Stages of failing RAG answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.metrics.rag_stages import RagStage, failed_stage

EXAMPLES = Path(__file__).parents[2] / "example_suites"
FEES = "A transfer abroad costs 5 USD. Transfers within the country are free. Cards are not refundable."


@pytest.mark.parametrize(
    ("answer", "reference", "stage"),
    [
        ("A transfer abroad costs 5 USD.", "It costs 5 USD.", None),
        ("The transfer abroad costs five USD, thank you for asking!", "5 USD", None),
        ("A transfer abroad costs 15 USD.", "It costs 5 USD.", "contradicted"),
        ("The documents do not say it.", "It costs 5 USD.", "not_used"),
        ("", "It costs 5 USD.", "not_used"),
        ("Transfers within the country are free.", "It costs 5 USD.", "not_used"),
        ("No, they are not.", "Yes, within the country.", "contradicted"),
        ("Yes, they are.", "Yes, within the country.", "not_used"),
        ("Cards are refundable.", "Cards are not refundable.", "contradicted"),
        ("Cards aren't refundable.", "Cards are not refundable.", None),
        ("It costs 5 USD.", "A replacement card costs 25 USD.", "not_retrieved"),
        ("A replacement card costs 25 USD.", "A replacement card costs 25 USD.", "not_retrieved"),
        ("Call the hotline.", "Visit your branch with a passport.", "not_retrieved"),
        ("Anything.", "", None),
        ("Anything.", "It is.", None),
    ],
)
def test_the_stage_without_labels(answer: str, reference: str, stage: RagStage | None) -> None:
    assert failed_stage(answer, reference, [FEES], question="What does it cost?") == stage


def test_without_context_nothing_was_retrieved() -> None:
    assert failed_stage("5 USD", "5 USD", []) == "not_retrieved"


def test_an_opposite_contradicts() -> None:
    context = ["The rate will rise next year."]
    assert failed_stage("The rate will fall.", "The rate will rise.", context) == "contradicted"
    assert failed_stage("The rate will rise, not fall.", "The rate will rise.", context) != "not_retrieved"


def test_a_number_of_the_question_contradicts_nothing() -> None:
    stage = failed_stage(
        "I cannot say for 300 USD.",
        "It costs 5 USD.",
        [FEES],
        question="And a transfer of 300 USD?",
    )
    assert stage == "not_used"


@pytest.mark.parametrize(
    ("sources", "stage"),
    [(["docs/fees.md"], "not_used"), (["docs/cards.md"], "not_retrieved"), (["", ""], "not_used")],
)
def test_labels_decide_on_retrieval(sources: list[str], stage: RagStage) -> None:
    texts = [FEES] * len(sources)
    labels = {"expected_documents": ["fees.md"], "sources": sources}
    assert failed_stage("No idea", "It costs 5 USD.", texts, **labels) == stage


def test_the_right_document_with_the_wrong_chunk_is_not_retrieved() -> None:
    labels = {"expected_documents": ["fees.md"], "sources": ["fees.md"]}
    assert failed_stage("No idea", "It costs 5 USD.", ["Cards are free."], **labels) == "not_retrieved"


def test_labels_suffice_without_a_reference() -> None:
    labels = {"expected_documents": ["fees.md"]}
    assert failed_stage("No idea", "", ["Cards"], sources=["cards.md"], **labels) == "not_retrieved"
    assert failed_stage("No idea", "", ["Fees"], sources=["fees.md"], **labels) == "not_used"


@pytest.mark.parametrize("answer", ["It costs 5 USD.", "I do not know."])
def test_where_a_refusal_is_expected_there_is_no_stage(answer: str) -> None:
    assert failed_stage(answer, "The documents do not say it.", [FEES]) is None


def test_the_planted_faults_of_the_example_lab() -> None:
    """Stages by hand, from the reasons that the lab gives for its expected failures."""
    expected: dict[tuple[str, str], RagStage | None] = {
        ("atlas-small", "plus-waiver"): "contradicted",
        ("atlas-small", "lost-card-fee-word_swap"): "not_used",
        ("atlas-small", "ombudsman-deadline"): "not_retrieved",
        ("meridian-7b", "plus-waiver"): "not_retrieved",
        ("meridian-7b", "chaps-fee-comma"): "not_retrieved",
        ("meridian-7b", "stolen-card-liability"): "not_retrieved",
        ("meridian-7b", "unauthorised-deadline"): "not_retrieved",
        ("meridian-7b", "unauthorised-refund"): None,
        ("meridian-7b", "overdraft-example"): "not_retrieved",
        ("drift-1b", "plus-fee"): None,
        ("drift-1b", "plus-waiver"): "not_retrieved",
        ("drift-1b", "chaps-fee"): "not_retrieved",
        ("drift-1b", "lost-card-fee-word_swap"): "not_used",
        ("drift-1b", "foreign-card-fee"): "not_retrieved",
        ("drift-1b", "stolen-card-liability"): "not_used",
        ("drift-1b", "unauthorised-refund-qwerty"): "not_used",
        ("drift-1b", "pin-request"): "not_used",
        ("drift-1b", "complaint-final"): "not_retrieved",
        ("drift-1b", "overdraft-example"): "not_retrieved",
    }
    lab = json.loads((EXAMPLES / "lab" / "four_models_lab.json").read_text())
    stages = {
        (row["model_key"], row["key"]): failed_stage(
            row["actual_output"],
            row["expected_output"],
            row["context"],
            question=row["input"],
            expected_documents=row.get("expected_documents", ()),
            sources=row["context_sources"],
        )
        for row in lab["dataset"]["inputs"]
        if row.get("xfail")
    }
    assert stages == expected


@pytest.mark.parametrize(
    ("answer", "context", "stage"),
    [
        ("It costs 5 USD.", FEES, None),
        ("It is free.", FEES, "not_used"),
        ("It costs 7 USD.", FEES, "contradicted"),
        ("It costs 7 USD.", "Cards are free.", "not_retrieved"),
    ],
)
def test_a_condition_takes_the_place_of_the_reference(
    answer: str, context: str, stage: RagStage | None
) -> None:
    condition = parse_condition('"5 USD" OR "five dollars"')
    assert failed_stage(answer, "", [context], condition=condition) == stage
