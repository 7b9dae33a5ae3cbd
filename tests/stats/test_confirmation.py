"""The test that confirms regressions, against integrals and simulations that share no code with it."""

from __future__ import annotations

import math
import random

import pytest
from scipy.integrate import quad
from scipy.stats import beta, fisher_exact

from pytest_evalstudio.stats.confirmation import (
    FAMILY_LEVEL,
    PASS_RATES,
    ConfirmationTest,
    RepeatedBaselineTest,
    confirmation_rates,
    false_alarm_rate,
    log_ratio,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("passed", "failed"), [(0, 1), (0, 5), (3, 2), (10, 9)])
def test_the_statistic_is_the_ratio_of_the_likelihoods(passed: int, failed: int) -> None:
    a, b = PASS_RATES
    weight, _ = quad(lambda p: p * beta.pdf(p, a, b), 0, 1)
    unchanged, _ = quad(lambda p: p ** (passed + 1) * (1 - p) ** failed * beta.pdf(p, a, b), 0, 1, limit=200)
    expected = math.log(0.3**passed * 0.7**failed / (unchanged / weight))
    assert log_ratio(passed, failed) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("pass_rate", [0.0, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("cases", [5, 50, 500])
def test_the_rates_agree_with_a_simulation(cases: int, pass_rate: float) -> None:
    test, draw, rounds = ConfirmationTest(cases=cases), random.Random(cases), 4_000
    confirmed = runs = 0
    for _ in range(rounds):
        passed, failed = 0, 1
        while test.decision(passed, failed) == "open":
            if draw.random() < pass_rate:
                passed += 1
            else:
                failed += 1
        confirmed += test.decision(passed, failed) == "confirmed"
        runs += passed + failed
    rates = confirmation_rates(test, pass_rate)
    error = 4 * math.sqrt(0.25 / rounds)
    assert confirmed / rounds == pytest.approx(rates.confirmed, abs=error)
    assert runs / rounds == pytest.approx(rates.mean_runs, rel=0.05)


@pytest.mark.parametrize("cases", [50, 500])
def test_a_case_that_fell_to_030_is_confirmed_and_one_of_095_is_not(cases: int) -> None:
    test = ConfirmationTest(cases=cases)
    assert confirmation_rates(test, 0.0).confirmed == 1.0
    assert confirmation_rates(test, 0.3).confirmed >= 0.9
    assert confirmation_rates(test, 0.95).confirmed * 0.95 * 0.05 * cases <= FAMILY_LEVEL


@pytest.mark.parametrize("spread", [(19.0, 1.0), PASS_RATES])
@pytest.mark.parametrize("cases", [50, 500])
def test_at_most_five_percent_of_unchanged_runs_have_a_confirmed_regression(
    cases: int, spread: tuple[float, float]
) -> None:
    test = ConfirmationTest(cases=cases)
    points = [(index + 0.5) / 400 for index in range(400)]
    weights = [beta.cdf(p + 1 / 800, *spread) - beta.cdf(p - 1 / 800, *spread) for p in points]
    false = sum(
        weight * p * (1 - p) * confirmation_rates(test, p).confirmed
        for p, weight in zip(points, weights, strict=True)
    )
    assert 1 - (1 - false) ** cases <= FAMILY_LEVEL


def test_the_smallest_number_of_further_repeats_is_that_of_the_fastest_decision() -> None:
    test = ConfirmationTest(cases=50)
    count = test.further(0, 1)
    assert test.decision(0, 1 + count) == "confirmed"
    assert {test.decision(passed, count - passed) for passed in range(count)} == {"open"}
    assert test.further(8, 1) == 0


def test_a_test_ends_after_its_last_repeat() -> None:
    assert ConfirmationTest(cases=500, max_runs=3).decision(0, 3) == "not confirmed"
    with pytest.raises(ValueError, match="1 or more"):
        ConfirmationTest(cases=0)


def test_at_the_end_the_further_repeats_are_those_that_are_left() -> None:
    test = ConfirmationTest(cases=50, max_runs=3)
    assert [test.further(*counts) for counts in ((0, 0), (0, 1), (2, 0), (2, 1))] == [3, 2, 1, 0]


@pytest.mark.parametrize("runs", [2, 5, 10])
@pytest.mark.parametrize("cases", [1, 20, 200])
def test_with_repeats_in_the_baseline_no_pass_rate_exceeds_the_level(cases: int, runs: int) -> None:
    rates = [false_alarm_rate(cases, runs, number / 97) for number in range(1, 97)]
    assert max(rates) <= FAMILY_LEVEL / cases * 1.001
    assert max(rates) >= FAMILY_LEVEL / cases / 5  # the test is not needlessly strict


def test_the_exact_false_alarms_agree_with_a_simulation() -> None:
    cases, runs, rate, rounds = 1, 5, 0.5, 20_000
    draw, false = random.Random(7), 0
    tests = [
        RepeatedBaselineTest(cases=cases, baseline_passed=passed, baseline_runs=runs)
        for passed in range(runs + 1)
    ]
    for _ in range(rounds):
        test = tests[sum(draw.random() < rate for _ in range(runs))]
        if draw.random() < rate:
            continue
        passed, failed = 0, 1
        while test.decision(passed, failed) == "open":
            is_pass = draw.random() < rate
            passed, failed = passed + is_pass, failed + (not is_pass)
        false += test.decision(passed, failed) == "confirmed"
    expected = false_alarm_rate(cases, runs, rate)
    assert false / rounds == pytest.approx(expected, abs=4 * math.sqrt(expected / rounds))


def test_the_statistic_is_fishers_p() -> None:
    test = RepeatedBaselineTest(cases=20, baseline_passed=9, baseline_runs=10)
    ends = [(passed, failed) for failed in range(1, 12) for passed in range(4)]
    confirmed = {end for end in ends if test.decision(*end) == "confirmed"}
    p_values = {
        (passed, failed): fisher_exact([[9, 1], [passed, failed]], alternative="greater").pvalue
        for passed, failed in ends
    }
    assert confirmed
    limit = max(p_values[end] for end in confirmed)
    assert confirmed == {end for end, p in p_values.items() if p <= limit * (1 + 1e-9)}
    assert limit < FAMILY_LEVEL


@pytest.mark.parametrize(("passed", "runs", "least"), [(5, 5, 0.7), (10, 10, 0.99), (9, 10, 0.9)])
def test_a_case_that_broke_is_confirmed_by_its_own_rate(passed: int, runs: int, least: float) -> None:
    test = RepeatedBaselineTest(cases=20, baseline_passed=passed, baseline_runs=runs)
    assert confirmation_rates(test, 0.0).confirmed == 1.0
    assert confirmation_rates(test, 0.3).confirmed >= least
    assert confirmation_rates(test, 0.95).confirmed <= 0.001


def test_a_run_with_repeats_has_a_level_of_its_own() -> None:
    single = RepeatedBaselineTest(cases=5, baseline_passed=5, baseline_runs=5)
    several = RepeatedBaselineTest(cases=5, baseline_passed=5, baseline_runs=5, is_single=False)
    first = next(failed for failed in range(1, 50) if single.decision(0, failed) == "confirmed")
    second = next(failed for failed in range(1, 50) if several.decision(0, failed) == "confirmed")
    assert first <= second


def test_a_case_that_probably_broke_does_not_pass_for_want_of_proof() -> None:
    test = RepeatedBaselineTest(cases=200, baseline_passed=5, baseline_runs=5)
    assert fisher_exact([[5, 0], [15, 35]], alternative="greater").pvalue < FAMILY_LEVEL
    assert test.decision(15, 35) == "undecided"
    assert test.decision(30, 20) == "not confirmed"
    assert test.decision(15, 34) == "open"
