"""Ranking metrics against scikit-learn and by hand."""

from __future__ import annotations

import pytest

from pytest_evalstudio.metrics.ranking import precision, same_document


@pytest.mark.parametrize(
    "ratings", [["yes"], ["no"], ["yes", "no"], ["no", "no", "yes"], ["yes"] * 7 + ["no"] * 2]
)
def test_precision_by_scikit_learn(ratings: list[str]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    retrieved, relevant = [1] * len(ratings), [int(rating == "yes") for rating in ratings]
    assert precision([rating == "yes" for rating in ratings]) == pytest.approx(
        metrics.precision_score(relevant, retrieved, zero_division=0.0)
    )


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
