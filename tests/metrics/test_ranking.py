"""Ranking metrics against scikit-learn and by hand."""

from __future__ import annotations

from random import Random

import pytest

from pytest_evalstudio.metrics.ranking import precision, ranking_figures, same_document


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
    ("expected", "source", "is_same"),
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
def test_uris_of_one_document(expected: str, source: str, is_same: bool) -> None:
    assert same_document(expected, source) is is_same


@pytest.mark.slow
def test_1000_random_rankings_by_scikit_learn() -> None:
    """Items beyond the ranking have lower scores than those in it; k is at most the length of the ranking."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = Random(20261124)
    for _ in range(1_000):
        size = random.randint(2, 30)
        labels = [int(random.random() < 0.3) for _ in range(size)]
        if not any(labels):
            labels[random.randrange(size)] = 1
        length = random.randint(1, size)
        k = random.randint(1, length)
        figures = ranking_figures(labels[:length], sum(labels), k)
        scores = [float(size - rank) for rank in range(size)]
        is_first = [int(rank < k) for rank in range(size)]
        assert figures.ndcg == pytest.approx(metrics.ndcg_score([labels], [scores], k=k))
        assert figures.recall == pytest.approx(metrics.recall_score(labels, is_first))
        assert figures.precision == pytest.approx(metrics.precision_score(labels, is_first))
        assert figures.hit_rate == max(labels[:k])
        first = labels.index(1)
        single_label = [int(rank == first) for rank in range(size)]
        by_rank = metrics.label_ranking_average_precision_score([single_label], [scores])
        expected = by_rank if first < k else 0.0
        assert figures.reciprocal_rank == pytest.approx(expected)
