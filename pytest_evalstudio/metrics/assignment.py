"""Best one-to-one assignment."""

from __future__ import annotations

from collections.abc import Sequence


def best_assignment(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the one-to-one assignment of rows to columns with the least total cost.

    Args:
        costs: finite costs, one list per row; all lists have the same length.

    Returns:
        Pairs of row and column, as many as the smaller side has, by row. Time is cubic.

    Source: Kuhn, 1955, and Munkres, 1957, by shortest augmenting paths (Jonker and Volgenant, 1987).

    >>> best_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    [(0, 1), (1, 0), (2, 2)]
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        transposed = [list(column) for column in zip(*costs, strict=True)]
        return sorted((row, column) for column, row in best_assignment(transposed))
    import numpy as np

    matrix = np.asarray(costs, dtype=float)
    rows, columns = matrix.shape
    row_potential, column_potential = np.zeros(rows), np.zeros(columns)
    row_of = np.full(columns, -1)
    for start in range(rows):
        distance = np.full(columns, np.inf)
        previous = np.full(columns, -1)
        visited = np.zeros(columns, dtype=bool)
        row, column, reached = start, -1, 0.0
        while True:
            reduced = reached + matrix[row] - row_potential[row] - column_potential
            shorter = ~visited & (reduced < distance)
            distance[shorter] = reduced[shorter]
            previous[shorter] = column
            column = int(np.argmin(np.where(visited, np.inf, distance)))
            reached = float(distance[column])
            if row_of[column] < 0:
                break
            visited[column] = True
            row = int(row_of[column])
        on_path = np.flatnonzero(visited)
        column_potential[on_path] += distance[on_path] - reached
        row_potential[row_of[on_path]] += reached - distance[on_path]
        row_potential[start] += reached
        while column >= 0:
            before = int(previous[column])
            row_of[column] = row_of[before] if before >= 0 else start
            column = before
    return sorted((int(row), column) for column, row in enumerate(row_of) if row >= 0)
