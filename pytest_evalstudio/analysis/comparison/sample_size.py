"""Numbers of cases: the drop that a comparison can find, and the cases that would settle it."""

from __future__ import annotations

import math
from statistics import NormalDist

from pytest_evalstudio.analysis.comparison.intervals import LOWER_ERROR
from pytest_evalstudio.stats.intervals import student_quantile

ALPHA = 0.05
POWER = 0.8  # the usual convention: four of five real drops of this size are found
_MAX_CASES = 10_000_000  # beyond any suite; ends the search
_NORMAL = NormalDist()


def min_falls(tests: int) -> int:
    """Return the least number of falls, with no rise, at which the exact test gives p <= 0.05.

    >>> min_falls(1), min_falls(15)
    (5, 9)
    """
    return math.ceil(math.log2(tests / ALPHA))


def smallest_detectable(
    error: float, cases: int, *, unit: float, is_yes_no: bool, tests: int
) -> float | None:
    """Return the drop that is found with 80 % power at the level of Holm's first step.

    That of a yes/no metric is never less than the falls that the exact test needs at all.

    Args:
        error: standard error of the mean difference.
        cases: original cases.
        unit: range of the metric.
        is_yes_no: whether all scores are 0 or 1.
        tests: number of tests that Holm's correction is for.

    Returns:
        The drop; None where no drop can be found with so few cases, or the scores do not vary.

    >>> round(smallest_detectable(0.15 / 20**0.5, 20, unit=1.0, is_yes_no=False, tests=1), 3)
    0.087
    >>> smallest_detectable(0.0, 20, unit=1.0, is_yes_no=True, tests=1)
    0.25
    """
    falls = min_falls(tests)
    if cases < falls or not math.isfinite(error):
        return None
    if is_yes_no:
        return max(_factor(tests) * error, falls / cases * unit)
    degrees = cases - 1
    factor = student_quantile(1 - ALPHA / tests, degrees) + student_quantile(POWER, degrees)
    return factor * error if error > 0 else None


def cases_needed(
    gain: float, deviation: float, cases: int, *, tolerance: float, extreme: float, tests: int
) -> int | None:
    """Return the number of original cases that would settle the verdict if the difference stays as it is.

    Args:
        gain: mean difference, positive for better scores.
        deviation: standard deviation of the differences of cases.
        cases: original cases of the comparison.
        tolerance: drop that does not matter, in the metric's unit.
        extreme: the greatest possible change of one case.
        tests: number of tests that Holm's correction is for.

    Returns:
        The number; None where no number would do.

    >>> cases_needed(0.0, 0.0, 10, tolerance=0.05, extreme=1.0, tests=1)
    61
    """
    if not math.isfinite(deviation) or extreme <= 0:
        return None
    numbers = []
    if gain + tolerance > 0:
        numbers.append(_cases_not_worse(gain + tolerance, deviation, extreme))
    if gain < 0 and deviation > 0:
        numbers.append(math.ceil((_factor(tests) * deviation / gain) ** 2))
    needed = max(cases + 1, min(numbers, default=_MAX_CASES))
    return needed if needed < _MAX_CASES else None


def _factor(tests: int) -> float:
    return _NORMAL.inv_cdf(1 - ALPHA / tests) + _NORMAL.inv_cdf(POWER)


def _cases_not_worse(distance: float, deviation: float, extreme: float) -> int:
    """Return the number of cases whose lower limit is nearer to the mean than a distance, with 80 % power."""
    share = min(distance / extreme, 1.0)
    needed = math.ceil(math.log(LOWER_ERROR) / math.log1p(-share)) if share < 1 else 1
    level, power = _NORMAL.inv_cdf(1 - LOWER_ERROR), _NORMAL.inv_cdf(POWER)

    def reach(number: int) -> float:
        spread = deviation / math.sqrt(number)
        return extreme / number + level * math.hypot(spread, extreme / number) + power * spread

    if deviation > 0 and reach(needed) > distance:
        short, enough = needed, needed
        while reach(enough) > distance and enough < _MAX_CASES:
            short, enough = enough, 2 * enough
        while enough - short > 1:
            middle = (short + enough) // 2
            short, enough = (middle, enough) if reach(middle) > distance else (short, middle)
        needed = enough
    return needed
