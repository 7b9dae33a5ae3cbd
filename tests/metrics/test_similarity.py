"""Transport distances against linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.similarity import mean_transport_distance, wasserstein_distance


@given(st.integers(2, 6), st.integers(2, 6), st.integers(0, 10_000))
def test_the_transport_is_the_optimum_of_the_linear_programme(rows: int, columns: int, seed: int) -> None:
    pytest.importorskip("ot")
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(seed)
    costs = random.uniform(0, 2, (rows, columns))
    first, second = random.dirichlet(np.ones(rows)), random.dirichlet(np.ones(columns))
    sums = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    best = optimize.linprog(costs.ravel(), A_eq=np.vstack(sums), b_eq=np.concatenate([first, second]))
    assert wasserstein_distance(costs, list(first), list(second)) == pytest.approx(best.fun, abs=2e-6)
    assert mean_transport_distance(costs, list(first), list(second)) >= best.fun - 2e-6
