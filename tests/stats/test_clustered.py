"""Shares of clustered values: effective numbers of trials by hand, coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.stats.clustered import clustered_share
from pytest_evalstudio.stats.intervals import wilson_interval


def test_independent_trials_have_wilsons_interval() -> None:
    share = clustered_share([1, 0, 1, 1], [1, 1, 1, 1])
    assert (share.value, share.effective, share.clusters) == (0.75, 4.0, 4)
    assert share.interval() == wilson_interval(3, 4)


def test_copies_of_a_trial_count_once() -> None:
    single = clustered_share([1, 0, 1, 1, 0, 1, 1, 1, 0, 1], [1] * 10)
    fivefold = clustered_share([5, 0, 5, 5, 0, 5, 5, 5, 0, 5], [5] * 10)
    assert fivefold.value == single.value
    assert fivefold.effective == pytest.approx(9)  # 10 clusters, the variance divided by 9 in place of 10


def test_the_effective_number_by_hand() -> None:
    # shares 1, 1/2 and 0 of 2 trials each, mean 1/2: (1² + 0² + 1²) / 6² · 3/2 = 1/12; 1/4 : 1/12 = 3
    assert clustered_share([2, 1, 0], [2, 2, 2]).effective == pytest.approx(3)


def test_all_successes_count_as_one_trial_per_cluster() -> None:
    share = clustered_share([4, 4, 4], [4, 4, 4])
    assert share.effective == 3
    assert share.interval() == wilson_interval(3, 3)


def test_clusters_without_trials_do_not_count_and_none_is_no_share() -> None:
    assert clustered_share([1, 0], [2, 0]).clusters == 1
    empty = clustered_share([0], [0])
    assert (empty.value, empty.interval()) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "size", "correlation"), [(40, 4, 0.5), (100, 3, 0.3), (60, 1, 0.0)])
def test_the_interval_covers_the_share(clusters: int, size: int, correlation: float) -> None:
    rng = np.random.default_rng(5)
    truth, covered = 0.8, 0
    for _ in range(1_000):
        shares = np.full(clusters, truth)
        if correlation:
            scale = (1 - correlation) / correlation
            shares = rng.beta(truth * scale, (1 - truth) * scale, size=clusters)
        low, high = clustered_share(rng.binomial(size, shares).tolist(), [size] * clusters).interval()
        covered += low <= truth <= high
    assert covered / 1_000 >= 0.935
