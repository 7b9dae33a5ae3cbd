"""Confidence intervals of proportions, means and effects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.types import LEVEL, Floats, Interval

_HALVINGS = 60  # a float has 53 bits


def wilson_interval(
    successes: float, total: float, *, level: float = LEVEL, degrees: float | None = None
) -> Interval:
    """Return the score interval of a proportion; it is reliable for few trials and for shares near 0 and 1.

    (p + z²/2n ± z·sqrt(p(1−p)/n + z²/4n²)) / (1 + z²/n), with p = successes / n.

    Own code: leaderboards and gates use it, and neither scipy nor statsmodels is installed with the core.

    Args:
        successes: 0 to `total`; a tie of two sides counts by half.
        total: number of trials, or of independent trials with the same variance, at least 1.
        level: coverage, between 0 and 1.
        degrees: of freedom, 1 or more, of the variance from which the number of independent trials follows;
            Student's quantile then takes the place of the normal one. None for trials that were counted.

    Returns:
        Lower and upper bound, 0.0 to 1.0.

    Raises:
        ValueError: if there are no trials, or more successes than trials.

    Source: Wilson, 1927 (JASA 22, 209–212).

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if total < 1 or not 0 <= successes <= total:
        raise ValueError(
            f"a proportion needs 0 <= successes <= total and total >= 1, not {successes} of {total}"
        )
    upper = 0.5 + level / 2
    z = NormalDist().inv_cdf(upper) if degrees is None else student_quantile(upper, degrees)
    share = successes / total
    centre = share + z * z / (2 * total)
    half_width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low = 0.0 if successes == 0 else (centre - half_width) / scale
    high = 1.0 if successes == total else (centre + half_width) / scale
    return low, high


def is_binary(values: Sequence[float]) -> bool:
    """Report whether all values are 0.0 or 1.0, so that their mean is a proportion.

    >>> is_binary([0.0, 1.0, 1.0]), is_binary([0.5])
    (True, False)
    """
    return set(values) <= {0.0, 1.0}


def mean_interval(values: Sequence[float], low: float, high: float) -> Interval | None:
    """Return the 95 % interval of a mean: Wilson's for a proportion, Student's for other scores.

    Args:
        values: at least one score.
        low: minimum of the scores' range, where the interval is cut.
        high: maximum of the scores' range, where the interval is cut.

    Returns:
        Lower and upper bound; None for a single score that is neither 0.0 nor 1.0.

    Source: Wilson, 1927 (JASA 22, 209–212); Student, 1908 (Biometrika 6, 1–25).

    >>> low, high = mean_interval([1.0, 2.0, 3.0], 0.0, 10.0)
    >>> low, round(high, 4)
    (0.0, 4.4841)
    """
    if is_binary(values):
        return wilson_interval(round(sum(values)), len(values))
    if len(values) < 2:
        return None
    data = np.asarray(values, dtype=np.float64)
    quantile = import_extra("scipy.stats", "intervals of means").t.ppf(0.5 + LEVEL / 2, len(data) - 1)
    half_width = float(quantile * np.std(data, ddof=1) / np.sqrt(len(data)))
    return max(low, float(data.mean()) - half_width), min(high, float(data.mean()) + half_width)


def student_quantile(share: float, degrees: float) -> float:
    """Return a quantile of Student's distribution.

    Exact for one and two degrees of freedom, to about 0.002 from three on. Own code: scipy is not installed
    with the core.

    Args:
        share: probability below the quantile, 0.5 to 1.0 exclusive.
        degrees: of freedom, at least 1.

    Source: Abramowitz and Stegun, 1964, 26.7.5 (expansion in 1 / degrees).

    >>> [round(student_quantile(0.975, degrees), 2) for degrees in (1, 2, 3, 10, 1000)]
    [12.71, 4.3, 3.18, 2.23, 1.96]
    """
    if degrees < 2:
        return math.tan(math.pi * (share - 0.5))
    if degrees < 3:
        return (2 * share - 1) * math.sqrt(2 / (4 * share * (1 - share)))
    z = NormalDist().inv_cdf(share)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / degrees**power for power, term in enumerate(terms))


def difference_of_proportions(
    passed: int, total: int, other_passed: int, other_total: int
) -> tuple[float, Interval]:
    """Return the difference of two proportions, first less second, with its 95 % interval.

    The interval combines the Wilson intervals of the two proportions. Own code: importing statsmodels, whose
    `confint_proportions_2indep` has this method, takes longer than the step that uses it.

    Args:
        passed: successes of the first sample.
        total: trials of the first sample.
        other_passed: successes of the second sample.
        other_total: trials of the second sample.

    Returns:
        The difference, −1.0 to 1.0, and its lower and upper bound.

    Source: Newcombe, 1998 (Statistics in Medicine 17, 873–890), method 10.

    >>> value, (low, high) = difference_of_proportions(56, 70, 48, 80)
    >>> round(value, 4), round(low, 4), round(high, 4)
    (0.2, 0.0524, 0.3339)
    """
    first, second = passed / total, other_passed / other_total
    low, high = wilson_interval(passed, total)
    other_low, other_high = wilson_interval(other_passed, other_total)
    value = first - second
    return value, (
        value - math.hypot(first - low, other_high - second),
        value + math.hypot(high - first, second - other_low),
    )


def probability_of_lower(values: Floats, others: Floats) -> tuple[float, Interval]:
    """Return the probability that a value is lower than one of the others, with its 95 % interval.

    Ties count half. This is the area under the ROC curve; 1 − 2 × it is Cliff's delta. Own code: no library
    of the extra `mrm` has this interval.

    Args:
        values: one-dimensional, at least one score each.
        others: one-dimensional, at least one score each.

    Returns:
        The probability (0.5 for no difference, 1.0 where every value is lower than every other), and its
        lower and upper bound.

    Source: Newcombe, 2006 (Statistics in Medicine 25, 559–573), method 5.

    >>> value, (low, high) = probability_of_lower(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    >>> value, round(low, 3), round(high, 3)
    (0.875, 0.3, 0.991)
    """
    ordered = np.sort(others)
    above = len(others) - np.searchsorted(ordered, values, side="right")
    same = np.searchsorted(ordered, values, side="right") - np.searchsorted(ordered, values, side="left")
    probability = float((above + same / 2).mean() / len(others))
    return probability, probability_of_lower_interval(probability, len(values), len(others))


def probability_of_lower_interval(probability: float, size: int, other_size: int) -> Interval:
    """Return the 95 % interval of a `probability_of_lower`, given the sizes of the two samples.

    Args:
        probability: 0.0 to 1.0.
        size: number of values, at least 1.
        other_size: number of other values, at least 1.

    Source: Newcombe, 2006 (Statistics in Medicine 25, 559–573), method 5.

    >>> [round(bound, 3) for bound in probability_of_lower_interval(0.5, 20, 20)]
    [0.331, 0.669]
    """
    return (
        _newcombe_bound(probability, size, other_size, end=0.0),
        _newcombe_bound(probability, size, other_size, end=1.0),
    )


def _newcombe_bound(probability: float, size: int, other_size: int, *, end: float) -> float:
    """Return the value that is z of its own standard errors away from the estimate, by bisection."""
    if probability == end:
        return end
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    pooled = (size + other_size) / 2 - 1
    near, far = probability, end
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        spread = 1 + pooled * ((1 - middle) / (2 - middle) + middle / (1 + middle))
        variance = middle * (1 - middle) * spread / (size * other_size)
        if abs(probability - middle) < z * math.sqrt(variance):
            near = middle
        else:
            far = middle
    return near
