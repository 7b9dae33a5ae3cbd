"""The interval of a difference that belongs to the tests behind a verdict."""

from __future__ import annotations

from pytest_evalstudio.stats.bounded_mean import mean_lower_limit
from pytest_evalstudio.stats.types import Floats, Interval

LOWER_ERROR = 0.045
"""Probability that a drop is larger than the interval allows; the test for "not worse" has this level."""
UPPER_ERROR = 0.005
"""Probability that a drop is smaller than the interval allows, where a drop is proven."""
_RISE_ERROR = 0.0005
"""A rise that is proven at this level may end the interval above 0; it hardly adds to the error."""


def gain_interval(sums: Floats, counts: Floats, *, extreme: float, is_drop: bool) -> Interval | None:
    """Return the 95 % interval of a mean gain.

    It excludes 0 from above exactly where the test finds a drop, so that its error is not above 5 % for any
    true gain: of a drop, 4.5 % lie at the lower end and 0.5 % at the upper one; where there is no change, the
    whole error is that of the test.

    Args:
        sums: shape (clusters,); the sum of each original case's gains, positive for better scores.
        counts: shape (clusters,); the number of these gains, at least 1.
        extreme: the greatest possible change of one case; 0.0 where there is no limit of any size.
        is_drop: whether the test finds a drop.

    Returns:
        Lower and upper bound; None where `extreme` is 0.0. An upper bound of 0 does not belong to the
        interval where `is_drop` holds.

    Source: the limits are Gaffke's, 2005; the intervals of two tests are combined as by Hsu, Hwang, Liu and
        Ruberg, 1994 (Biometrika 81, 103–114).
    """
    if extreme <= 0:
        return None
    low = mean_lower_limit(sums, counts, minimum=-extreme, error=LOWER_ERROR)
    high = -mean_lower_limit(-sums, counts, minimum=-extreme, error=UPPER_ERROR)
    if low > 0 and mean_lower_limit(sums, counts, minimum=-extreme, error=_RISE_ERROR) <= 0:
        low = 0.0
    return _belonging((low, high), is_drop=is_drop)


def independent_gain_interval(
    interval: Interval, gain: float, *, cases: int, extreme: float, is_drop: bool
) -> Interval:
    """Return the 95 % interval of the gain between independent groups, from one that may be too narrow.

    Where scores do not vary, the interval of a mean has no width. Its ends are at least as far from the gain
    as a share of cases with the greatest change that none of them would have shown.

    Args:
        interval: of the gain, from the intervals of both means.
        gain: difference of the means, positive for better scores.
        cases: in the smaller group.
        extreme: the greatest possible change of one case.
        is_drop: whether the test finds a drop.

    >>> low, high = independent_gain_interval((0.0, 0.0), 0.0, cases=20, extreme=1.0, is_drop=False)
    >>> round(low, 3), round(high, 3)
    (-0.144, 0.233)
    """
    below, above = (extreme * (1 - error ** (1 / cases)) for error in (LOWER_ERROR, UPPER_ERROR))
    return _belonging((min(interval[0], gain - below), max(interval[1], gain + above)), is_drop=is_drop)


def _belonging(interval: Interval, *, is_drop: bool) -> Interval:
    low, high = interval
    return low, min(high, 0.0) if is_drop else max(high, 0.0)
