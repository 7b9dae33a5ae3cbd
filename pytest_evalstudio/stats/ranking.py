"""Percentiles, ranks and ties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.stats.types import Floats

_TIE = 1e-9  # scores that differ by rounding alone share a rank


def percentile(values: Sequence[float] | Floats, share: float) -> float:
    """Return the value below which a share of the values is, linear between neighbours.

    Args:
        values: at least one finite number, in any order.
        share: percentage from 0 to 100.

    Returns:
        A number between the smallest and the largest value.

    Raises:
        ValueError: if there are no values.

    Source: Hyndman and Fan, 1996 (The American Statistician 50, 361–365), definition 7.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 50)
    2.5
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        raise ValueError("no values have no percentile")
    return percentiles(numbers, [share])[0]


def percentiles(values: Floats, shares: Sequence[float]) -> list[float]:
    """Return percentiles of many values, with linear interpolation; NaN without values.

    Own code: `numpy.percentile` imports `numpy.ma`, which takes 10 ms of each run.

    Args:
        values: finite numbers, in any order.
        shares: percentages from 0 to 100.

    Source: Hyndman and Fan, 1996 (The American Statistician 50, 361–365), definition 7.

    >>> percentiles(np.array([4.0, 1.0, 3.0, 2.0]), [0, 50, 100])
    [1.0, 2.5, 4.0]
    """
    if not values.size:
        return [np.nan] * len(shares)
    positions = np.asarray(shares, dtype=np.float64) / 100 * (values.size - 1)
    return [float(value) for value in np.interp(positions, np.arange(values.size), np.sort(values))]


def ranks(values: Sequence[float | None], *, higher_is_better: bool = True) -> list[int | None]:
    """Rank values from 1 for the best (competition ranking).

    Own code: scipy's `rankdata` knows neither missing values nor a tolerance, and is not installed with the
    core.

    Args:
        values: None where a value is missing.
        higher_is_better: False ranks the smallest value first.

    Returns:
        One rank per value; ties share the better rank, a missing value has None. Values that differ by less
        than a relative 1e-9 are ties, because sums of the same scores in another order differ by that much.

    >>> ranks([0.5, 0.9, 0.5, None])
    [2, 1, 2, None]
    """
    present = [(value, index) for index, value in enumerate(values) if value is not None]
    present.sort(key=lambda pair: pair[0], reverse=higher_is_better)
    ranked: list[int | None] = [None] * len(values)
    previous: tuple[float, int] | None = None
    for position, (value, index) in enumerate(present, start=1):
        is_same = previous is not None and is_tie(previous[0], value)
        ranked[index] = ranked[previous[1]] if is_same and previous is not None else position
        previous = value, index
    return ranked


def is_tie(first: float, second: float) -> bool:
    """Report whether two values differ by no more than the rounding error of a sum (relative 1e-9).

    >>> is_tie(0.1 + 0.2, 0.3), is_tie(0.3, 0.31)
    (True, False)
    """
    return math.isclose(first, second, rel_tol=_TIE, abs_tol=_TIE)
