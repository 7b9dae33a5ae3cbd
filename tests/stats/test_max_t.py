"""Step-down permutation test of several cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_evalstudio.stats.max_t import LabelledUnits, lower_cells


def units(scores: list[float], labels: list[int], strata: list[int] | None = None) -> LabelledUnits:
    values = np.array(scores)
    return LabelledUnits(
        labels=np.eye(max(labels) + 1)[labels],
        sums=(values - values.mean())[:, None],
        counts=np.ones((len(scores), 1)),
        strata=np.array(strata or [0] * len(scores)),
        cells=[(value, 0) for value in range(max(labels) + 1)],
    )


def test_p_agrees_with_all_permutations() -> None:
    scores = [0.1, 0.3, 0.2, 0.8, 0.9, 0.7, 0.5]
    alone, _ = lower_cells(units(scores, [0, 0, 0, 1, 1, 1, 1]), seed=1, draws=20_000)
    sums = [sum(chosen) for chosen in itertools.combinations(scores, 3)]
    exact = sum(value <= sum(scores[:3]) + 1e-9 for value in sums) / len(sums)
    assert alone[0] == pytest.approx(exact, abs=0.004)


def test_labels_stay_within_their_stratum() -> None:
    scores = [0.0, 1.0, 10.0, 11.0]
    alone, _ = lower_cells(units(scores, [0, 1, 0, 1], [0, 0, 1, 1]), seed=2, draws=20_000)
    assert alone[0] == pytest.approx(0.25, abs=0.01)  # both strata as they are, of four orders


def test_adjusted_p_is_never_below_p_of_the_cell() -> None:
    rng = np.random.default_rng(3)
    alone, adjusted = lower_cells(units(rng.normal(size=60).tolist(), [n % 6 for n in range(60)]), seed=3)
    assert all(one <= other + 1e-9 for one, other in zip(alone, adjusted, strict=True))
