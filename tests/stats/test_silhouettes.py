"""Silhouettes, against the definition as scikit-learn computes it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from pytest_evalstudio.stats.silhouettes import cosine_silhouette


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_silhouette_by_cosine_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(60, 8)), rng.integers(0, 4, 60)
    rows[3] = 0.0  # a text without words
    rows[10] = rows[11] = rows[12]
    assert cosine_silhouette(rows, labels) == pytest.approx(
        silhouette_score(rows, labels, metric="cosine"), abs=1e-12
    )


def test_a_row_alone_in_its_cluster_counts_nothing() -> None:
    rows, labels = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), np.array([0, 0, 1])
    assert cosine_silhouette(rows, labels) == pytest.approx(silhouette_score(rows, labels, metric="cosine"))
