"""pass@k and pass^k, against enumeration of all samples and against simulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.stats.repeats import pass_at_k, pass_hat_k

COUNTS = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(COUNTS)
def test_both_are_shares_of_all_samples_of_k_repeats(counts):
    total, passed, k = counts
    repeats = [True] * passed + [False] * (total - passed)
    samples = list(combinations(repeats, k))
    assert pass_at_k(total, passed, k) == pytest.approx(sum(map(any, samples)) / len(samples))
    assert pass_hat_k(total, passed, k) == pytest.approx(sum(map(all, samples)) / len(samples))


def test_both_are_unbiased():
    rng = np.random.default_rng(1)
    passed = rng.binomial(10, 0.8, size=20_000)
    assert np.mean([pass_at_k(10, int(c), 3) for c in passed]) == pytest.approx(1 - 0.2**3, abs=0.002)
    assert np.mean([pass_hat_k(10, int(c), 3) for c in passed]) == pytest.approx(0.8**3, abs=0.005)


@pytest.mark.parametrize("counts", [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_numbers_out_of_range_are_refused(counts):
    with pytest.raises(ValueError, match="needed"):
        pass_at_k(*counts)
    with pytest.raises(ValueError, match="needed"):
        pass_hat_k(*counts)
