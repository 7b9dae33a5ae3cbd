"""The assignment is the best one, compared with all permutations."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.assignment import best_assignment


@given(
    st.integers(1, 5).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 6), min_size=columns, max_size=columns), min_size=1, max_size=5
        )
    )
)
def test_no_permutation_is_cheaper(costs: list[list[int]]) -> None:
    rows, columns = len(costs), len(costs[0])
    pairs = best_assignment(costs)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == min(rows, columns)
    if rows <= columns:
        totals = [
            sum(costs[row][column] for row, column in enumerate(order))
            for order in permutations(range(columns), rows)
        ]
    else:
        totals = [
            sum(costs[row][column] for column, row in enumerate(order))
            for order in permutations(range(rows), columns)
        ]
    assert sum(costs[row][column] for row, column in pairs) == min(totals)


def test_nothing_is_assigned_to_nothing() -> None:
    assert best_assignment([]) == best_assignment([[]]) == []
