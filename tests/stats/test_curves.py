"""Points of a centred isotonic regression by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.stats.curves import centred_isotonic


@pytest.mark.parametrize(
    ("good", "scores", "probabilities"),
    [
        ([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 1.0]),  # both ends of stretches at 0 and 1
        ([0, 1, 0, 1], [1.0, 2.5, 4.0], [0.0, 0.5, 1.0]),  # the middle of a stretch between them
    ],
)
def test_stretches_by_hand(good: list[int], scores: list[float], probabilities: list[float]) -> None:
    values, labels = np.arange(1.0, 5.0), np.array(good, dtype=bool)
    assert centred_isotonic(values, labels, increasing=True) == (scores, probabilities)
    assert centred_isotonic(values, ~labels, increasing=False) == (scores, [1 - p for p in probabilities])
