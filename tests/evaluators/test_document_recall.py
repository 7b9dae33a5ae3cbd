"""Document recall: which URIs mean one document."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.evaluators.document_recall import DocumentRecall, same_document

Make = Callable[..., Case]


@pytest.mark.parametrize(
    ("expected", "source", "same"),
    [
        ("a.pdf", "a.pdf", True),
        ("a.pdf", "/data/docs/a.pdf", True),
        ("docs/a.pdf", "/data/docs/a.pdf", True),
        ("x/a.pdf", "/data/docs/a.pdf", False),
        ("a.pdf", "aa.pdf", False),
        ("A.pdf", "a.pdf", False),
        ("https://Host.com/a%20b.pdf", "http://host.com/a b.pdf#page=3", True),
        ("https://host.com/a.pdf?v=2", "https://host.com/a.pdf", True),
        ("https://host.com/a.pdf", "https://other.com/a.pdf", False),
        ("file:///data/a.pdf", "a.pdf", True),
        ("docs\\a.pdf", "docs/a.pdf", True),
        ("./a.pdf", "a.pdf", True),
        ("", "a.pdf", False),
    ],
)
def test_uris_of_one_document(expected: str, source: str, same: bool) -> None:
    assert same_document(expected, source) is same


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
