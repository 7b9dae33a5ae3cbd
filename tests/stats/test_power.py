"""Power of planned comparisons: against enumeration, scipy, statsmodels and hand calculations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.power import Pilot, PlannedTest, cases_for, components, power_curve
from pytest_evalstudio.stats.sign_flip import sign_flip_drop


def yes_no(*passes: int, repeats: int) -> list[list[np.ndarray]]:
    return [[np.repeat([1.0, 0.0], [count, repeats - count])] for count in passes]


def test_falls_alone_have_the_power_of_the_binomial_distribution() -> None:
    pilot = Pilot([[np.ones(1)]] * 8 + [[np.zeros(1)]] * 2)
    curve = power_curve(pilot, PlannedTest(drop=0.1), 1, 80)
    # The exact test rejects from 5 falls on, whatever the number of cases.
    expected = stats.binom.sf(4, np.arange(1, 81), 0.1)
    assert curve == pytest.approx(expected, abs=0.025)
    cases = cases_for(pilot, PlannedTest(drop=0.1), 1)
    assert stats.binom.sf(4, cases, 0.1) == pytest.approx(0.8, abs=0.015)


def test_normal_noise_has_the_sample_size_of_the_t_test() -> None:
    rng = np.random.default_rng(3)
    pilot = Pilot([[rng.normal(1.0, 0.2, 400)] for _ in range(50)])
    cases = cases_for(pilot, PlannedTest(drop=0.05, even=True), 1)
    noncentrality = 0.05 / (0.2 * 2**0.5) * cases**0.5
    power = stats.nct.sf(stats.t.isf(0.05, cases - 1), cases - 1, noncentrality)
    assert power == pytest.approx(0.8, abs=0.02)


def test_components_of_a_balanced_design_are_those_of_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(1)
    case = rng.normal(0, 0.4, (3_000, 1, 1))
    variant = rng.normal(0, 0.3, (3_000, 3, 1))
    scores = case + variant + rng.normal(0, 0.2, (3_000, 3, 2))
    parts = components([list(each) for each in scores])
    assert (parts.case, parts.variant, parts.repeat) == pytest.approx((0.16, 0.09, 0.04), rel=0.06)


def test_one_answer_per_question_does_not_split_the_variance() -> None:
    parts = components([[np.ones(1)], [np.zeros(1)]])
    assert (parts.repeat, parts.variant, parts.case) == (None, None, 0.5)
    assert components([[np.ones(2)]]).case is None


def test_repeats_help_answers_that_vary_and_not_those_that_do_not() -> None:
    test = PlannedTest(drop=0.1)
    sure, unsure = Pilot(yes_no(*[3] * 8, 0, 0, repeats=3)), Pilot(yes_no(*[3, 2, 2, 1] * 5, repeats=3))
    assert not sure.varies
    assert cases_for(sure, test, 1) == pytest.approx(cases_for(sure, test, 5), abs=3)
    assert cases_for(unsure, test, 5) < cases_for(unsure, test, 1) / 2


def test_few_repeats_do_not_hide_the_noise_of_answers() -> None:
    """Shares of two repeats as they are would halve the noise."""
    rng = np.random.default_rng(5)
    passes = rng.binomial(2, 0.7, 2_000)
    case_count = cases_for(Pilot(yes_no(*passes, repeats=2)), PlannedTest(drop=0.1), 1)
    noise = 0.7 * 0.3 + 0.6 * 0.4 + 0.0  # variance of both runs where falls are spread evenly
    estimate = ((stats.norm.isf(0.05) + stats.norm.isf(0.2)) / 0.1) ** 2 * noise
    assert case_count == pytest.approx(estimate, rel=0.12)


def test_large_suites_have_the_normal_approximation() -> None:
    pilot = Pilot([[np.ones(1)]])
    cases = cases_for(pilot, PlannedTest(drop=0.001), 1)
    assert stats.binom.sf(4, cases, 0.001) == pytest.approx(0.8, abs=0.12)


def test_a_level_that_few_changes_cannot_reach_is_never_reached() -> None:
    pilot = Pilot([[np.full(3, 0.8)]] * 4)
    assert not power_curve(pilot, PlannedTest(drop=0.8, level=0.01), 3, 6).any()


def exact_power(cases: int, fall: float, rise: float) -> float:
    """Power of McNemar's exact test at 5 %, summed over all numbers of changes."""
    power = 0.0
    for changes in range(1, cases + 1):
        falls = np.arange(changes + 1)
        rejected = falls[stats.binom.sf(falls - 1, changes, 0.5) <= 0.05]
        if rejected.size:
            power += stats.binom.pmf(changes, cases, fall + rise) * stats.binom.sf(
                rejected[0] - 1, changes, fall / (fall + rise)
            )
    return power


def test_falls_and_rises_have_the_power_of_mcnemars_exact_test() -> None:
    """Half of the answers pass by chance; half of the cases break: 3 of 8 cases fall and 1 of 8 rises."""
    pilot = Pilot([[np.ones(1)], [np.zeros(1)]] * 5, noise="all")
    curve = power_curve(pilot, PlannedTest(drop=0.25), 1, 40)
    expected = [exact_power(cases, 0.375, 0.125) for cases in range(1, 41)]
    assert curve == pytest.approx(expected, abs=0.025)


@pytest.mark.parametrize(("repeats", "cases"), [(1, 600), (2, 20)])
def test_without_a_drop_the_test_keeps_its_level(repeats: int, cases: int) -> None:
    """600 cases have more changes than the critical values of the exact test."""
    pilot = Pilot([[np.ones(1)], [np.zeros(1)]] * 5, noise="all")
    power = power_curve(pilot, PlannedTest(drop=1e-6), repeats, cases)[-1]
    assert 0.02 <= power <= 0.05


def test_repeats_have_the_power_of_the_test_itself() -> None:
    pilot = Pilot([[np.ones(1)], [np.zeros(1)]] * 5, noise="all")
    share, cases = 0.3, 20
    sums = pilot.differences(np.random.default_rng(9), (1_500, cases), repeats=2, share=share, even=True)
    rejected = np.mean([sign_flip_drop(row) <= 0.05 for row in sums])
    planned = power_curve(pilot, PlannedTest(drop=share * pilot.mean, even=True), 2, cases)[-1]
    assert planned == pytest.approx(rejected, abs=0.04)


def test_one_case_may_be_enough() -> None:
    assert cases_for(Pilot([[np.ones(1)]] * 20), PlannedTest(drop=1.0, level=0.5), 1) == 1


def test_few_repeats_of_answers_that_mostly_fail_do_not_hide_their_noise() -> None:
    passes = np.random.default_rng(5).binomial(2, 0.3, 2_000)
    case_count = cases_for(Pilot(yes_no(*passes, repeats=2)), PlannedTest(drop=0.1), 1)
    # A third of the cases break: 0.3 to 0.2 on average; variances of both runs.
    noise = 0.3 * 0.7 + 0.2 * 0.8
    estimate = ((stats.norm.isf(0.05) + stats.norm.isf(0.2)) / 0.1) ** 2 * noise
    assert case_count == pytest.approx(estimate, rel=0.12)
