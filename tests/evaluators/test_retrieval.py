"""Document recall over cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.retrieval import DocumentRecall

Make = Callable[..., Case]


def test_the_share_of_expected_documents_that_were_retrieved(case: Make, tools: Tools) -> None:
    row = case(
        "x",
        context=("a", "b"),
        expected_documents=("a.pdf", "b.pdf", "b.pdf", " "),
        context_sources=("d/a.pdf", "d/a.pdf"),
    )
    (outcome,) = DocumentRecall().score([row], tools)
    assert outcome.scores["document_recall"] == 1 / 2
    assert outcome.reason == "not retrieved: b.pdf"


@pytest.mark.parametrize("fields", [{"expected_documents": ("a",)}, {"context_sources": ("a",)}, {}])
def test_it_needs_both_lists(case: Make, tools: Tools, fields: dict[str, tuple[str, ...]]) -> None:
    row = case("x", context=("a",), **fields)
    assert DocumentRecall().not_applicable(row)
    assert DocumentRecall().score([row], tools)[0].status == "not_applicable"
