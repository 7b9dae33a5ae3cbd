"""Exact test of repeated measurements, against enumeration and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_evalstudio.stats.drift import Repeats, drift


def by_enumeration(objects: list[tuple[list[int], list[int]]]) -> float:
    """All ways to deal the measurements of each object to the two times."""

    def distance(before: tuple[int, ...], after: tuple[int, ...]) -> int:
        return (sum(before) * len(after) - sum(after) * len(before)) ** 2

    observed = sum(distance(tuple(before), tuple(after)) for before, after in objects)
    deals = []
    for before, after in objects:
        values = [*before, *after]
        indices = range(len(values))
        deals.append(
            [
                distance(
                    tuple(values[i] for i in first),
                    tuple(values[i] for i in indices if i not in first),
                )
                for first in itertools.combinations(indices, len(before))
            ]
        )
    totals = [sum(each) for each in itertools.product(*deals)]
    return sum(total >= observed for total in totals) / len(totals)


@pytest.mark.parametrize("seed", range(8))
def test_p_equals_the_enumeration_of_all_deals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objects = [
        (rng.integers(0, 2, rng.integers(1, 4)).tolist(), rng.integers(0, 2, rng.integers(1, 4)).tolist())
        for _ in range(3)
    ]
    repeats = [Repeats(sum(before), len(before), sum(after), len(after)) for before, after in objects]
    assert drift(repeats) == pytest.approx(by_enumeration(objects))


def test_nothing_that_changed_is_no_drift() -> None:
    assert drift([Repeats(2, 2, 2, 2), Repeats(0, 2, 0, 2)]) == 1.0
    assert drift([]) == 1.0
    assert drift([Repeats(1, 1, 0, 0)]) == 1.0


def test_noise_alone_is_rarely_a_drift() -> None:
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        shares = rng.beta(0.4, 0.4, size=32)
        before, after = rng.binomial(2, shares), rng.binomial(2, shares)
        alarms += drift([Repeats(int(a), 2, int(b), 2) for a, b in zip(before, after, strict=True)]) <= 0.05
    assert alarms / 400 <= 0.07


def test_four_of_thirty_two_verdicts_are_a_drift() -> None:
    changed = [Repeats(2, 2, 0, 2)] * 4 + [Repeats(2, 2, 2, 2)] * 28
    assert drift(changed) == pytest.approx(1 / 81)
