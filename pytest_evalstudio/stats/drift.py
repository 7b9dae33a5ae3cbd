"""Exact test of repeated yes-or-no measurements of the same objects at two times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repeats:
    """Measurements of one object.

    Attributes:
        before: successes at the first time.
        before_total: measurements at the first time.
        after: successes at the second time.
        after_total: measurements at the second time.
    """

    before: int
    before_total: int
    after: int
    after_total: int


def drift(objects: Sequence[Repeats]) -> float:
    """Return p of the exact test that no object changed between the two times.

    Given the successes of an object at both times, they are equally likely to be any of its measurements.
    The statistic is the sum of the squared differences of the shares, scaled to whole numbers. Objects whose
    measurements all agree say nothing.

    Args:
        objects: with at least one measurement at each time; others do not count.

    Returns:
        p, 0.0 to 1.0; small where objects changed.

    Source: Pesarin, 2001, Multivariate Permutation Tests, chapter 7 (stratified permutation).

    >>> drift([Repeats(2, 2, 0, 2)])
    0.3333333333333333
    >>> round(drift([Repeats(2, 2, 0, 2)] * 3), 4)
    0.037
    """
    return _p(objects, _distance)


def loss(objects: Sequence[Repeats]) -> float:
    """Return p of the exact test that no object has fewer successes at the second time.

    The permutations are those of `drift`. The statistic is the sum of the successes at the first time, in
    proportion to the measurements of the object at both times.

    Args:
        objects: with at least one measurement at each time; others do not count.

    Returns:
        p, 0.0 to 1.0; small where successes were lost.

    Source: Pesarin, 2001, Multivariate Permutation Tests, chapter 7 (stratified permutation).

    >>> loss([Repeats(1, 1, 0, 1)] * 5)
    0.03125
    >>> loss([Repeats(2, 2, 1, 2)])
    0.5
    """
    return _p(objects, lambda each, before: before * (each.before_total + each.after_total))


def _p(objects: Sequence[Repeats], statistic: Callable[[Repeats, int], int]) -> float:
    """Return the probability of a sum of the statistic that is at least the observed one.

    Args:
        statistic: whole number from 0, of an object with so many successes at the first time.
    """
    filled = [each for each in objects if each.before_total and each.after_total]
    observed = sum(statistic(each, each.before) for each in filled)
    distribution = {0: 1.0}
    for each in filled:
        successes, total = each.before + each.after, each.before_total + each.after_total
        ways = math.comb(total, successes)
        step: dict[int, float] = {}
        for before in range(max(0, successes - each.after_total), min(each.before_total, successes) + 1):
            probability = (
                math.comb(each.before_total, before) * math.comb(each.after_total, successes - before) / ways
            )
            distance = statistic(each, before)
            step[distance] = step.get(distance, 0.0) + probability
        summed: dict[int, float] = {}
        for distance, probability in distribution.items():
            for more, share in step.items():
                # Sums beyond the observed one are not distinguished: they count all the same.
                reached = min(distance + more, observed)
                summed[reached] = summed.get(reached, 0.0) + probability * share
        distribution = summed
    return min(1.0, distribution.get(observed, 0.0))


def _distance(each: Repeats, before: int) -> int:
    """Return the squared difference of the shares, scaled, with `before` successes at the first time."""
    after = each.before + each.after - before
    return (before * each.after_total - after * each.before_total) ** 2
