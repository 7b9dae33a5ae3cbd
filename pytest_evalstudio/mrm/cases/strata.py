"""Stratified sampling: how many of each stratum, and which."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def shares(count: int, weights: Mapping[str, float], most: Mapping[str, int]) -> dict[str, int]:
    """How many to take of each stratum so that all are count, in proportion to the weights, by largest
    remainders.

    What a stratum lacks goes to the others in proportion; of equal remainders the earlier stratum's comes
    first.

    Args:
        weights: 0 or more.
        most: how many each stratum has.

    >>> shares(10, {"a": 6, "b": 3, "c": 1}, {"a": 99, "b": 99, "c": 99})
    {'a': 6, 'b': 3, 'c': 1}
    >>> shares(10, {"a": 1, "b": 1}, {"a": 2, "b": 99})
    {'a': 2, 'b': 8}
    """
    taken = dict.fromkeys(weights, 0)
    open_ = {name: float(weight) for name, weight in weights.items() if weight > 0 and most[name] > 0}
    left = count
    while left > 0 and open_:
        total = math.fsum(open_.values())
        exact = {name: left * weight / total for name, weight in open_.items()}
        over = [name for name in open_ if taken[name] + exact[name] >= most[name]]
        if over:
            for name in over:
                left -= most[name] - taken[name]
                taken[name] = most[name]
                del open_[name]
            continue
        for name, number in exact.items():
            taken[name] += int(number)
            left -= int(number)
        for name in sorted(open_, key=lambda name: -(exact[name] - int(exact[name])))[:left]:
            taken[name] += 1
        break
    return taken


def in_turns(groups: Sequence[Sequence[T]], most: int) -> list[T]:
    """The first of each group, then the second of each, and so on, until there are enough.

    >>> in_turns([[1, 2, 3], [4], [5, 6]], 5)
    [1, 4, 5, 2, 6]
    """
    longest = max(map(len, groups), default=0)
    return [group[at] for at in range(longest) for group in groups if at < len(group)][:most]
