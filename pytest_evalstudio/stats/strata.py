"""Stratified sampling: sizes of the strata's samples, and their order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def allocate(count: int, weights: Mapping[str, float], sizes: Mapping[str, int]) -> dict[str, int]:
    """Divide a sample over strata in proportion to weights, by largest remainders.

    A stratum gives at most its size; the rest goes to the others in proportion. Of equal remainders, that of
    the earlier stratum comes first.

    Args:
        count: size of the whole sample, 0 or more.
        weights: by stratum, 0 or more.
        sizes: by stratum, the number of its members.

    Returns:
        By stratum the size of its sample; the sum is below `count` where there are too few members.

    Source: Hamilton's method of apportionment (largest remainders).

    >>> allocate(10, {"a": 6, "b": 3, "c": 1}, {"a": 99, "b": 99, "c": 99})
    {'a': 6, 'b': 3, 'c': 1}
    >>> allocate(10, {"a": 1, "b": 1}, {"a": 2, "b": 99})
    {'a': 2, 'b': 8}
    """
    taken = dict.fromkeys(weights, 0)
    remaining = {name: float(weight) for name, weight in weights.items() if weight > 0 and sizes[name] > 0}
    left = count
    while left > 0 and remaining:
        total = math.fsum(remaining.values())
        exact = {name: left * weight / total for name, weight in remaining.items()}
        exhausted = [name for name in remaining if taken[name] + exact[name] >= sizes[name]]
        if exhausted:
            for name in exhausted:
                left -= sizes[name] - taken[name]
                taken[name] = sizes[name]
                del remaining[name]
            continue
        for name, number in exact.items():
            taken[name] += int(number)
            left -= int(number)
        for name in sorted(remaining, key=lambda name: -(exact[name] - int(exact[name])))[:left]:
            taken[name] += 1
        break
    return taken


def interleave(groups: Sequence[Sequence[T]], max_count: int) -> list[T]:
    """Return the first member of each group, then the second of each, and so on, up to `max_count`.

    >>> interleave([[1, 2, 3], [4], [5, 6]], 5)
    [1, 4, 5, 2, 6]
    """
    longest = max(map(len, groups), default=0)
    rounds = [group[index] for index in range(longest) for group in groups if index < len(group)]
    return rounds[:max_count]
