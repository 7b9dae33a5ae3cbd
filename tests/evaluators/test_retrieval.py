"""Document recall and labelled retrieval over cases."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.retrieval import DocumentRecall, LabelledRetrieval
from support.scored_cases import outcomes_of

Make = Callable[..., Case]


def test_the_share_of_expected_documents_that_were_retrieved(case: Make, tools: Tools) -> None:
    row = case(
        "x",
        context=("a", "b"),
        expected_documents=("a.pdf", "b.pdf", "b.pdf", " "),
        context_sources=("d/a.pdf", "d/a.pdf"),
    )
    (outcome,) = outcomes_of(DocumentRecall(), [row], tools)
    assert outcome.scores["document_recall"] == 1 / 2
    assert outcome.reason == "not retrieved: b.pdf"


@pytest.mark.parametrize("fields", [{"expected_documents": ("a",)}, {"context_sources": ("a",)}, {}])
def test_it_needs_both_lists(case: Make, tools: Tools, fields: dict[str, tuple[str, ...]]) -> None:
    row = case("x", context=("a",), **fields)
    assert outcomes_of(DocumentRecall(), [row], tools)[0].status == "not_applicable"


CHUNKS = ("Cards are free.", "A transfer abroad costs 5 USD, and takes three days.", "Call us.")


def labelled(case: Make, tools: Tools, k: int = 0, **fields: tuple[str, ...]) -> Outcome:
    (outcome,) = outcomes_of(LabelledRetrieval(k=k), [case("x", **{"context": CHUNKS, **fields})], tools)
    return outcome


def test_a_perfect_and_a_broken_retriever(case: Make, tools: Tools) -> None:
    perfect = labelled(case, tools, expected_chunks=CHUNKS)
    assert set(perfect.scores.values()) == {1.0}
    assert perfect.reason == ""
    broken = labelled(case, tools, expected_chunks=("Loans have a fixed rate.",))
    assert set(broken.scores.values()) == {0.0}
    assert broken.reason == "not retrieved: Loans have a fixed rate."


def test_figures_of_chunks_by_hand(case: Make, tools: Tools) -> None:
    """The second of three chunks is one of two expected: 1/2, 1/3, hit, 1/2, (1/log2 3) / (1 + 1/log2 3)."""
    outcome = labelled(
        case, tools, expected_chunks=("a transfer  abroad costs 5 USD", "It is closed on Sunday.")
    )
    gain = 1 / math.log2(3)
    assert outcome.scores == pytest.approx(
        {"recall": 0.5, "precision": 1 / 3, "hit_rate": 1, "reciprocal_rank": 0.5, "ndcg": gain / (1 + gain)}
    )
    assert outcome.reason == "not retrieved: It is closed on Sunday.; the first expected one has rank 2 of 3"


def test_k_limits_what_counts(case: Make, tools: Tools) -> None:
    outcome = labelled(case, tools, k=1, expected_chunks=("A transfer abroad costs 5 USD",))
    assert set(outcome.scores.values()) == {0.0}
    assert labelled(case, tools, k=5, expected_chunks=("Cards are free.",)).scores["precision"] == 1 / 5


def test_a_chunk_that_contains_two_expected_ones_has_found_both(case: Make, tools: Tools) -> None:
    outcome = labelled(
        case,
        tools,
        context=("One fee is 5. Another is 7.",),
        expected_chunks=("One fee is 5.", "Another is 7."),
    )
    assert set(outcome.scores.values()) == {1.0}


def test_a_fragment_of_an_expected_chunk_does_not_suffice(case: Make, tools: Tools) -> None:
    outcome = labelled(
        case, tools, context=("fees",), expected_chunks=("Of all fees the annual one is due first.",)
    )
    assert outcome.scores["recall"] == 0


def test_documents_are_ranked_by_their_first_chunk(case: Make, tools: Tools) -> None:
    outcome = labelled(
        case, tools, context_sources=("a.md", "a.md", "d/b.md"), expected_documents=("b.md", "c.md")
    )
    assert outcome.scores["reciprocal_rank"] == 1 / 2
    assert (outcome.scores["recall"], outcome.scores["precision"]) == (1 / 2, 1 / 2)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "no expected chunks or documents"),
        ({"expected_chunks": (" ",)}, "no expected chunks or documents"),
        ({"expected_chunks": ("a",), "context": ()}, "no context"),
        ({"expected_documents": ("a",)}, "the host does not report the sources of its chunks"),
    ],
)
def test_it_needs_labels_and_chunks(
    case: Make, tools: Tools, fields: dict[str, tuple[str, ...]], reason: str
) -> None:
    assert labelled(case, tools, **fields).reason == reason


def test_a_model_that_retrieved_nothing_misses_all(case: Make, tools: Tools) -> None:
    row = case("x", context=(), is_rag=True, expected_chunks=("a",))
    (outcome,) = outcomes_of(LabelledRetrieval(), [row], tools)
    assert set(outcome.scores.values()) == {0.0}


def test_k_is_checked() -> None:
    with pytest.raises(ConfigurationError, match="k is at least 0, not -1"):
        LabelledRetrieval(k=-1)
