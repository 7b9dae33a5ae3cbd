"""Paired tests against enumeration, scipy, and their promise on data without an effect."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.paired import matched_failures, wilcoxon_drop


def test_with_one_other_answer_it_is_the_exact_test_of_mcnemar() -> None:
    cases = [(True, [False])] * 6 + [(False, [True])] * 2 + [(True, [True])] * 5 + [(False, [False])] * 9
    assert matched_failures(cases) == pytest.approx(stats.binomtest(6, 8, alternative="greater").pvalue)


def test_with_several_others_it_is_what_enumeration_gives() -> None:
    cases = [
        (True, [False, True]),
        (True, [False, False]),
        (False, [True, True]),
        (True, [False, False]),
        (False, [False, False]),
    ]
    observation = sum(failed for failed, _ in cases)
    ways = list(itertools.product(*[[failed, *others] for failed, others in cases]))
    assert matched_failures(cases) == pytest.approx(sum(sum(way) >= observation for way in ways) / len(ways))


def test_nothing_turned_says_nothing() -> None:
    assert matched_failures([(False, [False, False])] * 20) == pytest.approx(1.0)
    assert matched_failures([]) == 1.0


def test_scores_without_ties_are_as_scipy_has_them() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.normal(0.2, 1, 18), rng.normal(0, 1, 18)
    assert wilcoxon_drop(before, after) == pytest.approx(
        stats.wilcoxon(before, after, alternative="greater", method="exact").pvalue
    )


def test_ties_are_enumerated() -> None:
    before = np.array([0.9, 0.8, 0.7, 0.5, 0.5, 0.4])
    after = np.array([0.8, 0.7, 0.8, 0.1, 0.5, 0.2])
    ranks = [2.0, 2.0, 2.0, 5.0, 4.0]  # of .1 .1 .1 .4 .2; a pair without a difference is left out
    observation = 2 + 2 + 5 + 4
    sums = [
        sum(rank for rank, up in zip(ranks, way, strict=True) if up)
        for way in itertools.product([0, 1], repeat=5)
    ]
    assert wilcoxon_drop(before, after) == pytest.approx(sum(total >= observation for total in sums) / 32)


def test_many_pairs_are_near_scipys_approximation() -> None:
    rng = np.random.default_rng(4)
    before, after = np.round(rng.normal(0.1, 1, 600), 1), np.round(rng.normal(0, 1, 600), 1)
    expected = stats.wilcoxon(
        np.round(before - after, 9), alternative="greater", method="asymptotic", correction=True
    ).pvalue
    assert wilcoxon_drop(before, after) == pytest.approx(expected, rel=1e-6)


def test_pairs_without_a_difference_say_nothing() -> None:
    assert wilcoxon_drop(np.ones(5), np.ones(5)) == 1.0


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_a_model_that_flickers_gives_few_false_alarms(noise: float) -> None:
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(600):
        chance = rng.choice([noise, 1 - noise, 0.02], 20)
        draws = rng.random((20, 4)) < chance[:, None]
        alarms += matched_failures([(bool(row[0]), row[1:].tolist()) for row in draws]) <= 0.05
    assert alarms / 600 <= 0.05 + 2 * (0.05 * 0.95 / 600) ** 0.5


def test_p_is_at_most_1_where_the_shares_sum_to_more_by_rounding() -> None:
    for controls in range(1, 6):
        for count in range(1, 40):
            assert matched_failures([(False, [True] + [False] * (controls - 1))] * count) <= 1.0
