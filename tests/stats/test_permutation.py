"""Permutation within kinds: against enumeration of all deals, and figures by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_evalstudio.stats.permutation import Stratum, compare_within_strata

STRATA = (
    Stratum(np.array([0.1, 0.4]), np.array([0.4, 0.6, 0.9])),
    Stratum(np.array([0.2, 0.2, 0.7]), np.array([0.3, 0.8])),
)


def figures(deal: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """Chance and distance, straight from their definitions."""
    total = sum(len(group) for group, _ in deal)
    chance = (
        sum(np.mean([(a < b) + (a == b) / 2 for b in others]) for group, others in deal for a in group)
        / total
    )
    points = [score for group, others in deal for score in (*group, *others)]

    def gap(point: float) -> float:
        return (
            sum((group <= point).sum() - len(group) * (others <= point).mean() for group, others in deal)
            / total
        )

    return float(chance), max(0.0, *map(gap, points))


def test_it_is_what_enumeration_gives() -> None:
    pools = [np.concatenate([stratum.values, stratum.others]) for stratum in STRATA]
    ways = [
        itertools.combinations(range(len(pool)), len(stratum.values))
        for pool, stratum in zip(pools, STRATA, strict=True)
    ]
    every = [
        figures([(pool[list(rows)], np.delete(pool, rows)) for pool, rows in zip(pools, choice, strict=True)])
        for choice in itertools.product(*ways)
    ]
    expected = figures([(stratum.values, stratum.others) for stratum in STRATA])
    result = compare_within_strata(STRATA, seed=1, draws=20_000)
    assert (result.probability, result.distance) == pytest.approx(expected)
    assert result.p_probability == pytest.approx(
        np.mean([chance >= expected[0] - 1e-9 for chance, _ in every]), abs=0.01
    )
    assert result.p_distance == pytest.approx(
        np.mean([distance >= expected[1] - 1e-9 for _, distance in every]), abs=0.01
    )


def test_the_mean_of_the_others_is_in_the_own_mix() -> None:
    assert compare_within_strata(STRATA, seed=1, draws=9).mean == pytest.approx(
        (2 * (1.9 / 3) + 3 * 0.55) / 5
    )


def test_the_same_seed_gives_the_same_figures() -> None:
    assert compare_within_strata(STRATA, seed=3, draws=99) == compare_within_strata(STRATA, seed=3, draws=99)


def test_scores_that_are_all_the_same_say_nothing() -> None:
    result = compare_within_strata([Stratum(np.ones(4), np.ones(6))], seed=0, draws=99)
    assert (result.probability, result.p_probability, result.distance, result.p_distance) == (
        0.5,
        1.0,
        0.0,
        1.0,
    )
