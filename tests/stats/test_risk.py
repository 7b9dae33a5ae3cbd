"""Cuts chosen by risk, against trying all of them and against simulated new answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from pytest_evalstudio.stats.risk import choose_cut
from pytest_evalstudio.stats.risk_rule import RiskRule


def random_sample(seed: int, count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probabilities = rng.random(count).round(2)
    return probabilities, (rng.random(count) < probabilities).astype(float)


def rates(probabilities: np.ndarray, good: np.ndarray, cutoff: float) -> tuple[float, float]:
    passes = probabilities >= cutoff
    return float((~passes)[good == 1].mean()), float(passes[good == 0].mean())


@pytest.mark.parametrize("seed", range(3))
def test_balanced_error_is_the_best_balanced_accuracy(seed: int) -> None:
    probabilities, good = random_sample(seed)
    cutoff = choose_cut(probabilities, good, RiskRule())
    every = [balanced_accuracy_score(good, probabilities >= limit) for limit in np.linspace(0, 1.01, 1000)]
    assert balanced_accuracy_score(good, probabilities >= cutoff.probability) == pytest.approx(max(every))
    assert (cutoff.type_1, cutoff.type_2) == pytest.approx(rates(probabilities, good, cutoff.probability))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 4.0), (3.0, 1.0)])
def test_costs_are_as_small_as_they_can_be(seed: int, costs: tuple[float, float]) -> None:
    probabilities, good = random_sample(seed)
    rule = RiskRule(rule="cost", cost_type_i=costs[0], cost_type_ii=costs[1])

    def cost(cutoff: float) -> float:
        passes = probabilities >= cutoff
        return float(costs[0] * (~passes & (good == 1)).sum() + costs[1] * (passes & (good == 0)).sum())

    least_cost = cost(choose_cut(probabilities, good, rule).probability)
    assert least_cost == min(cost(limit) for limit in np.linspace(0, 1.01, 1000))


@pytest.mark.parametrize("limit", [0.1, 0.2, 0.4])
def test_the_other_error_is_smallest_within_a_limit(limit: float) -> None:
    probabilities, good = random_sample(3, 200)
    second = choose_cut(probabilities, good, RiskRule(rule="max_type_ii", limit=limit))
    first = choose_cut(probabilities, good, RiskRule(rule="max_type_i", limit=limit))
    every = [rates(probabilities, good, cutoff) for cutoff in np.linspace(0.001, 1, 1000)]
    assert second.type_2 <= limit
    assert second.type_1 == pytest.approx(min(type_1 for type_1, type_2 in every if type_2 <= limit))
    assert first.type_1 <= limit
    assert first.type_2 == pytest.approx(min(type_2 for type_1, type_2 in every if type_1 <= limit))


@pytest.mark.parametrize("limit", [0.1, 0.2])
def test_the_margin_keeps_the_error_of_new_answers_within_the_limit(limit: float) -> None:
    """The expected type II error over labels and new answers, of 400 calibrations with 60 labels each."""
    errors, plain = [], []
    for seed in range(400):
        probabilities, good = random_sample(seed)
        new, truth = random_sample(10_000 + seed, 500)
        rule = RiskRule(rule="max_type_ii", limit=limit)
        for margin, results in ((1, errors), (0, plain)):
            cutoff = choose_cut(probabilities, good, rule, margin=margin)
            results.append(rates(new, truth, cutoff.probability)[1])
    assert limit - 0.04 < np.mean(errors) <= limit + 0.002
    assert np.mean(plain) > np.mean(errors)


def test_a_limit_by_hand() -> None:
    probabilities = np.arange(1, 11) / 10
    good = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1])
    cutoff = choose_cut(probabilities, good, RiskRule(rule="max_type_ii", limit=0.4))
    assert (cutoff.probability, cutoff.type_1, cutoff.type_2) == (
        pytest.approx(0.35),
        0.0,
        pytest.approx(0.4),
    )
    strict = choose_cut(probabilities, good, RiskRule(rule="max_type_ii", limit=0.4), margin=1)
    assert strict.type_2 == pytest.approx(0.2), "(1 + 1) / (5 + 1) is within the limit, (2 + 1) / 6 is not"


def test_a_limit_that_only_the_same_verdict_on_all_attains_is_unattained() -> None:
    probabilities, good = np.array([0.2, 0.5, 0.9, 0.9]), np.array([0, 1, 0, 1])
    cutoff = choose_cut(probabilities, good, RiskRule(rule="max_type_ii", limit=0.1))
    assert not cutoff.is_attained
    assert (cutoff.type_2, cutoff.type_1) == (0.5, 0.0), "the best that lets a good answer pass"


def test_costs_that_no_score_outweighs_are_unattained() -> None:
    probabilities, good = random_sample(0)
    rule = RiskRule(rule="cost", cost_type_i=1, cost_type_ii=10_000)
    cutoff = choose_cut(np.append(probabilities, 1.0), np.append(good, 0.0), rule)
    assert (cutoff.is_attained, cutoff.type_1, cutoff.type_2) == (False, 1.0, 0.0)


def test_probabilities_take_the_place_of_labels() -> None:
    probabilities = np.linspace(0.01, 0.99, 99)
    cutoff = choose_cut(probabilities, probabilities, RiskRule())
    assert cutoff.probability == pytest.approx(0.5, abs=0.02), "at the share of good answers"


def test_a_cut_that_passes_all_bad_answers_is_not_within_a_limit() -> None:
    probabilities, good = np.array([0.3, 0.6, 0.8]), np.array([1, 1, 0])
    cutoff = choose_cut(probabilities, good, RiskRule(rule="max_type_i", limit=0.5))
    assert not cutoff.is_attained


def test_where_every_answer_shall_fail_the_cut_is_above_all_probabilities() -> None:
    rule = RiskRule(rule="cost", cost_type_i=1, cost_type_ii=1_000)
    cutoff = choose_cut(np.array([0.2, 0.5, 0.8]), np.array([0.0, 1.0, 0.0]), rule)
    assert (cutoff.probability, cutoff.type_1, cutoff.type_2) == (pytest.approx(0.9), 1.0, 0.0)


def test_where_every_answer_shall_pass_the_cut_is_below_all_probabilities() -> None:
    rule = RiskRule(rule="cost", cost_type_i=1_000, cost_type_ii=1)
    cutoff = choose_cut(np.array([0.2, 0.5, 0.8]), np.array([1.0, 0.0, 1.0]), rule)
    assert (cutoff.probability, cutoff.type_1, cutoff.type_2) == (pytest.approx(0.1), 0.0, 1.0)
