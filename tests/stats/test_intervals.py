"""Intervals, percentiles and ranks, against scipy and hand calculations."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_evalstudio.stats import bootstrap
from pytest_evalstudio.stats.bootstrap import cluster_bootstrap_interval, cluster_bootstrap_intervals
from pytest_evalstudio.stats.intervals import student_quantile, wilson_interval
from pytest_evalstudio.stats.ranking import percentile, ranks
from support.processor_time import assert_within


@pytest.mark.parametrize(
    ("successes", "total"), [(0, 1), (1, 1), (0, 20), (20, 20), (8, 10), (1, 1000), (499, 1000)]
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_agrees_with_scipy(successes, total, level):
    reference = stats.binomtest(successes, total).proportion_ci(level, method="wilson")
    assert wilson_interval(successes, total, level=level) == pytest.approx(
        (reference.low, reference.high), abs=1e-12
    )


@pytest.mark.parametrize(("successes", "total"), [(0, 10), (8, 10), (32, 40), (93, 100)])
@pytest.mark.parametrize("degrees", [5, 39])
def test_wilson_with_degrees_of_freedom_is_that_of_the_level_of_students_quantile(successes, total, degrees):
    level = 1 - 2 * stats.norm.sf(stats.t.ppf(0.975, degrees))
    reference = stats.binomtest(successes, total).proportion_ci(level, method="wilson")
    assert wilson_interval(successes, total, degrees=degrees) == pytest.approx(
        (reference.low, reference.high), abs=1e-3
    )


@pytest.mark.parametrize("share", [0.5, 0.8, 0.93])
@pytest.mark.parametrize("total", [40, 100])
def test_wilson_with_degrees_of_freedom_covers_exactly(total, share):
    """By the binomial probabilities; of 40 trials and a share of 0.8 it is 0.928 without degrees."""
    covered = [
        count
        for count in range(total + 1)
        if (bounds := wilson_interval(count, total, degrees=total - 1))[0] <= share <= bounds[1]
    ]
    assert stats.binom.pmf(covered, total, share).sum() >= 0.94


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_stays_between_zero_and_one_and_holds_the_share(pair):
    low, high = wilson_interval(*pair)
    assert 0.0 <= low <= pair[0] / pair[1] <= high <= 1.0


@pytest.mark.parametrize(("successes", "total"), [(0, 0), (2, 1), (-1, 3)])
def test_wilson_refuses_what_is_no_proportion(successes, total):
    with pytest.raises(ValueError, match="proportion"):
        wilson_interval(successes, total)


def test_bootstrap_of_independent_rows_agrees_with_scipy():
    values = np.random.default_rng(1).beta(2, 3, size=400)
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    low, high = cluster_bootstrap_interval(values, range(400), replicates=4000)
    assert (low, high) == pytest.approx((reference.low, reference.high), abs=0.004)


def test_repeats_of_a_case_do_not_narrow_the_interval():
    values = np.random.default_rng(1).random(50)
    single = cluster_bootstrap_interval(values, range(50))
    tenfold = cluster_bootstrap_interval(np.repeat(values, 10), np.repeat(np.arange(50), 10))
    assert tenfold == pytest.approx(single)


def test_one_cluster_has_no_interval():
    assert cluster_bootstrap_interval([0.1, 0.9, 0.5], [7, 7, 7]) is None
    assert cluster_bootstrap_interval([], []) is None


@pytest.mark.parametrize("limit", [1, 99, 999, 9_999])
def test_the_interval_is_the_same_in_every_run_and_whatever_the_blocks(
    monkeypatch: pytest.MonkeyPatch, limit: int
):
    odd = np.random.default_rng(1).random(31)
    whole = cluster_bootstrap_interval(odd, range(31))
    monkeypatch.setattr(bootstrap, "_DRAWS_AT_ONCE", limit)
    assert cluster_bootstrap_interval(odd, range(31)) == pytest.approx(whole, rel=1e-12)
    values = np.random.default_rng(1).random(30)
    assert cluster_bootstrap_interval(values, range(30)) == cluster_bootstrap_interval(values, range(30))
    assert cluster_bootstrap_interval(values, range(30)) != cluster_bootstrap_interval(
        values, range(30), seed=1
    )


def test_many_means_at_once_equal_one_by_one():
    values = np.random.default_rng(3).random((40, 3))
    intervals = cluster_bootstrap_intervals(values, np.ones((40, 3)))
    assert np.allclose(intervals, [cluster_bootstrap_interval(values[:, i], range(40)) for i in range(3)])


def test_a_mean_of_few_of_the_cases_is_bounded_by_their_values():
    sums, counts = np.zeros((20, 1)), np.zeros((20, 1))
    sums[3], sums[5], counts[3], counts[5] = 0.2, 0.8, 1, 1
    assert cluster_bootstrap_intervals(sums, counts) == [pytest.approx((0.2, 0.8))]


def test_a_hundred_thousand_rows_take_neither_minutes_nor_much_memory():
    values = np.random.default_rng(1).random(100_000)

    def measure(turn: int) -> None:
        low, high = cluster_bootstrap_interval(values + turn, np.arange(100_000))
        assert low < values.mean() + turn < high

    assert_within(30, measure)  # about one
    tracemalloc.start()
    cluster_bootstrap_interval(values, np.arange(100_000), replicates=40)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 99))
def test_percentile_agrees_with_numpy(values, share):
    assert percentile(values, share) == pytest.approx(float(np.quantile(values, share / 100)))


def test_no_values_have_no_percentile():
    with pytest.raises(ValueError, match="no percentile"):
        percentile([], 50)


@pytest.mark.parametrize(
    ("values", "higher", "expected"),
    [
        pytest.param([0.1, 0.2, 0.3], True, [3, 2, 1], id="higher is better"),
        pytest.param([0.1, 0.2, 0.3], False, [1, 2, 3], id="lower is better"),
        pytest.param([0.5, 0.5, 0.1], True, [1, 1, 3], id="ties share the better place"),
        pytest.param([0.1 + 0.2, 0.3], True, [1, 1], id="the noise of a sum is a tie"),
        pytest.param([None, 0.0, -1.0], True, [None, 1, 2], id="no value, no rank; zero is a value"),
        pytest.param([], True, [], id="nothing"),
    ],
)
def test_ranks(values, higher, expected):
    assert ranks(values, higher_is_better=higher) == expected


@given(st.lists(st.integers(0, 5), max_size=20))
def test_ranks_agree_with_scipy(values):
    reference = (
        stats.rankdata([-value for value in values], method="min").astype(int).tolist() if values else []
    )
    assert ranks([float(value) for value in values]) == reference


@pytest.mark.parametrize(
    ("degrees", "error"), [(1, 1e-9), (2, 1e-9), (4, 1e-3), (5, 4e-4), (8, 3e-5), (30, 1e-7)]
)
@pytest.mark.parametrize("share", [0.6, 0.9, 0.975])
def test_students_quantile_is_scipys(degrees, error, share):
    assert student_quantile(share, degrees) == pytest.approx(stats.t.ppf(share, degrees), abs=error)
