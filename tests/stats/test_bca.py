"""BCa intervals of clustered means against scipy, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.bca import cluster_bca_intervals


@pytest.mark.parametrize(("skew", "count"), [(False, 60), (True, 60), (True, 12)])
def test_clusters_of_one_have_the_interval_of_scipy(skew: bool, count: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.exponential(1.0, count) if skew else rng.normal(0.0, 1.0, count)
    expected = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(4)
    ).confidence_interval

    (interval,) = cluster_bca_intervals(values[:, None], np.ones((count, 1)), replicates=20_000)

    assert interval == pytest.approx((expected.low, expected.high), abs=0.02)


def test_pairs_that_repeat_each_other_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(5).normal(0.0, 1.0, (40, 1))

    (single,) = cluster_bca_intervals(values, np.ones((40, 1)))
    (repeated,) = cluster_bca_intervals(5 * values, 5 * np.ones((40, 1)))

    assert single is not None
    assert repeated == pytest.approx(single)


def test_nineteen_of_twenty_intervals_hold_the_mean() -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        (interval,) = cluster_bca_intervals(rng.exponential(1.0, (80, 1)), np.ones((80, 1)), replicates=500)
        assert interval is not None
        hits += interval[0] <= 1.0 <= interval[1]
    assert hits / 200 >= 0.9


def test_columns_without_values_in_two_clusters_have_no_interval() -> None:
    sums, counts = np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([[1.0, 0.0], [1.0, 1.0]])

    first, second = cluster_bca_intervals(sums, counts)

    assert first is not None
    assert second is None


def test_kinds_of_equal_clusters_have_the_interval_of_the_single_clusters() -> None:
    rng = np.random.default_rng(7)
    sums = rng.choice([-1.0, 0.0, 0.0, 1.0], (400, 1))
    counts = np.ones((400, 1))
    expected = stats.bootstrap(
        (sums[:, 0],), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(4)
    ).confidence_interval

    (interval,) = cluster_bca_intervals(sums, counts, replicates=20_000)

    assert interval == pytest.approx((expected.low, expected.high), abs=0.005)
