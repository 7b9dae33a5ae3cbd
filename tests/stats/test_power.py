"""Power of planned comparisons: against enumeration, scipy, statsmodels and hand calculations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.power import Pilot, PlannedTest, cases_for, components, power_curve


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
    needed = cases_for(Pilot(yes_no(*passes, repeats=2)), PlannedTest(drop=0.1), 1)
    noise = 0.7 * 0.3 + 0.6 * 0.4 + 0.0  # variance of both runs where falls are spread evenly
    estimate = ((stats.norm.isf(0.05) + stats.norm.isf(0.2)) / 0.1) ** 2 * noise
    assert needed == pytest.approx(estimate, rel=0.12)


def test_large_suites_have_the_normal_approximation() -> None:
    pilot = Pilot([[np.ones(1)]])
    cases = cases_for(pilot, PlannedTest(drop=0.001), 1)
    assert stats.binom.sf(4, cases, 0.001) == pytest.approx(0.8, abs=0.12)


def test_a_level_that_few_changes_cannot_reach_is_never_reached() -> None:
    pilot = Pilot([[np.full(3, 0.8)]] * 4)
    assert not power_curve(pilot, PlannedTest(drop=0.8, level=0.01), 3, 6).any()
