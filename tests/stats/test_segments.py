"""The permutation test of many groups, against exact enumeration and its level."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_evalstudio.stats.segments import fallen_groups


def enumerated(sums: np.ndarray) -> tuple[list[float], list[float]]:
    """p alone and single-step adjusted p of each group, over all assignments of signs."""
    spread = np.sqrt((sums**2).sum(axis=0))
    scaled = sums / spread
    observed = scaled.sum(axis=0)
    values = np.asarray(
        [np.asarray(signs) @ scaled for signs in itertools.product((-1, 1), repeat=len(sums))]
    )
    p_values = (values <= observed + 1e-9).mean(axis=0)
    least = values.min(axis=1)
    return p_values.tolist(), [(least <= each + 1e-9).mean() for each in observed]


def test_p_values_are_those_of_all_assignments_of_signs() -> None:
    rng = np.random.default_rng(3)
    sums = rng.choice([-1.0, 0.0, 1.0, -2.0], size=(12, 4), p=[0.4, 0.2, 0.3, 0.1])
    p_values, adjusted = fallen_groups(sums, draws=40_000)
    exact_alone, exact_adjusted = enumerated(sums)
    assert p_values == pytest.approx(exact_alone, abs=0.01)
    worst = int(np.argmin(exact_adjusted))
    assert adjusted[worst] == pytest.approx(exact_adjusted[worst], abs=0.01)
    assert all(a <= e + 0.01 for a, e in zip(adjusted, exact_adjusted, strict=True))  # step-down gains


def test_unchanged_groups_are_named_in_at_most_five_percent() -> None:
    rng = np.random.default_rng(5)
    false = 0
    for number in range(400):
        member = rng.random((60, 12)) < 0.4
        sums = member * rng.choice([-1.0, 0.0, 1.0], size=(60, 1), p=[0.2, 0.6, 0.2])
        false += min(fallen_groups(sums, draws=499, seed=number)[1]) <= 0.05
    assert false / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


def test_a_group_that_breaks_is_found_beside_one_that_is_fixed() -> None:
    sums = np.zeros((20, 3))
    sums[:10, 0], sums[10:, 1], sums[5:15, 2] = -1.0, 1.0, [-1.0] * 5 + [1.0] * 5
    adjusted = fallen_groups(sums)[1]
    assert adjusted[0] <= 0.01
    assert min(adjusted[1:]) > 0.3
