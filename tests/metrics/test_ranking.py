"""Ranking metrics against scikit-learn and by hand."""

from __future__ import annotations

import pytest

from pytest_evalstudio.metrics.ranking import precision


@pytest.mark.parametrize(
    "ratings", [["yes"], ["no"], ["yes", "no"], ["no", "no", "yes"], ["yes"] * 7 + ["no"] * 2]
)
def test_precision_by_scikit_learn(ratings: list[str]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    retrieved, relevant = [1] * len(ratings), [int(rating == "yes") for rating in ratings]
    assert precision([rating == "yes" for rating in ratings]) == pytest.approx(
        metrics.precision_score(relevant, retrieved, zero_division=0.0)
    )
