"""Stratified sampling: sizes of the strata's samples, their order, and estimates of means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pytest_evalstudio.stats.types import Floats

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
    counts = dict.fromkeys(weights, 0)
    remaining = {name: float(weight) for name, weight in weights.items() if weight > 0 and sizes[name] > 0}
    remaining_count = count
    while remaining_count > 0 and remaining:
        total = math.fsum(remaining.values())
        exact = {name: remaining_count * weight / total for name, weight in remaining.items()}
        exhausted = [name for name in remaining if counts[name] + exact[name] >= sizes[name]]
        # Their rest goes to the others, so the shares are computed anew without them.
        if exhausted:
            for name in exhausted:
                remaining_count -= sizes[name] - counts[name]
                counts[name] = sizes[name]
                del remaining[name]
            continue
        for name, number in exact.items():
            counts[name] += int(number)
            remaining_count -= int(number)
        for name in sorted(remaining, key=lambda name: -(exact[name] - int(exact[name])))[:remaining_count]:
            counts[name] += 1
        break
    return counts


def interleave(groups: Sequence[Sequence[T]], max_count: int) -> list[T]:
    """Return the first member of each group, then the second of each, and so on, up to `max_count`.

    >>> interleave([[1, 2, 3], [4], [5, 6]], 5)
    [1, 4, 5, 2, 6]
    """
    longest = max(map(len, groups), default=0)
    rounds = [group[index] for index in range(longest) for group in groups if index < len(group)]
    return rounds[:max_count]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledStratum:
    """Sample of a stratum, and the values of the rows of a domain in it.

    Attributes:
        population: rows of the stratum.
        sample: rows that were drawn from it without replacement.
        n: of these, the rows of the domain: all for which the mean is estimated.
        mean: of the values of these n rows.
        m2: their sum of squared deviations from `mean`.
    """

    population: int
    sample: int
    n: int
    mean: float
    m2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated mean with its standard error and degrees of freedom."""

    mean: float
    standard_error: float
    degrees: int


def stratified_mean(strata: Sequence[SampledStratum]) -> Estimate | None:
    """Estimate the mean of a domain from a stratified random sample.

    The ratio estimator: the size of the domain is estimated from the same sample. Its variance is linearised,
    with the finite population correction of each stratum.

    Args:
        strata: all that have rows of the domain.

    Returns:
        None if no row of the domain was drawn.

    Source: Cochran, 1977 (Sampling Techniques, 5.3 and 5A.14); Särndal, Swensson and Wretman, 1992, 5.8.

    >>> estimate = stratified_mean([SampledStratum(population=100, sample=4, n=4, mean=0.5, m2=1.0)])
    >>> estimate.mean, round(estimate.standard_error, 4), estimate.degrees
    (0.5, 0.2828, 3)
    """
    domain = [stratum for stratum in strata if stratum.n]
    size = math.fsum(each.population / each.sample * each.n for each in domain)
    if not size:
        return None
    mean = math.fsum(each.population / each.sample * each.n * each.mean for each in domain) / size
    variance = math.fsum(_variance(each, mean) for each in domain) / size**2
    degrees = sum(each.n for each in domain) - len(domain)
    return Estimate(mean=mean, standard_error=math.sqrt(variance), degrees=max(1, degrees))


def weighted_quantiles(values: Floats, weights: Floats, shares: Sequence[float]) -> tuple[float, ...]:
    """Return the least values up to which values with at least these shares of the weight are.

    Args:
        values: finite numbers, in any order; at least one.
        weights: of the values, above 0.
        shares: from 0.0 to 1.0.

    Source: Hyndman and Fan, 1996 (The American Statistician 50, 361–365), definition 1, with weights.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]), [0.5, 0.75, 0.8])
    (1.0, 2.0, 3.0)
    """
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order])
    # The tolerance is for the rounding of equal weights, e.g. of three tenths.
    positions = np.searchsorted(cumulated / cumulated[-1], np.asarray(shares) - 1e-12, side="left")
    return tuple(values[order][np.minimum(positions, len(values) - 1)].tolist())


def _variance(stratum: SampledStratum, mean: float) -> float:
    """Return the variance of the estimated total of deviations from the domain's mean in a stratum."""
    # A stratum that was drawn as a whole has no error of sampling; one of a single row shows no spread.
    if stratum.sample < 2 or stratum.sample >= stratum.population:
        return 0.0
    total = stratum.n * (stratum.mean - mean)
    within = stratum.m2
    if 1 < stratum.n < stratum.sample:
        # The mean of a domain is estimated from its own rows, fewer than those of the stratum.
        within *= stratum.n / (stratum.n - 1)
    squares = within + stratum.n * (stratum.mean - mean) ** 2
    spread = max(0.0, squares - total * total / stratum.sample) / (stratum.sample - 1)
    correction = 1 - stratum.sample / stratum.population
    return stratum.population**2 * correction * spread / stratum.sample
