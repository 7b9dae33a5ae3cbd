"""Statistics of a hold-out that is used again and again: noisy answers, and the gap between two halves."""

from __future__ import annotations

import math

from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import LEVEL, Interval

NOISE_SHARE = 0.2
"""Share of the error of an interval that is spent on the noise of an answer; the rest is for the sampling."""


def laplace_quantile(share: float, scale: float) -> float:
    """Return a quantile of the Laplace distribution around 0.

    Args:
        share: probability of a smaller value, between 0 and 1, both excluded.
        scale: of the distribution, at least 0; its standard deviation is √2 times as large.

    >>> laplace_quantile(0.5, 1.0), round(laplace_quantile(0.995, 0.01), 4)
    (0.0, 0.0461)
    """
    if share <= 0.5:
        return scale * math.log(2 * share)
    return -scale * math.log(2 * (1 - share))


def noise_bound(scale: float, *, level: float = LEVEL) -> float:
    """Return the bound that Laplace noise stays within with probability 1 − `NOISE_SHARE`·(1 − level).

    >>> round(noise_bound(0.01), 4)
    0.0461
    """
    return -scale * math.log(NOISE_SHARE * (1 - level))


def thresholdout(
    open_rate: float, hidden_rate: float, *, threshold: float, noise: tuple[float, float, float]
) -> float | None:
    """Return a noisy pass rate of the hidden half, None where it is close to that of the open half.

    |open − hidden| is compared with the threshold; both the threshold and the comparison are noisy.

    Args:
        open_rate: 0.0 to 1.0.
        hidden_rate: 0.0 to 1.0.
        threshold: difference up to which nothing but agreement is answered.
        noise: of the threshold, of the comparison and of the answer: Laplace variables of scales 2σ, 4σ, σ.

    Returns:
        Pass rate, 0.0 to 1.0, rounded to whole percent, which costs no information about the halves.

    Source: Dwork et al., 2015 (Science 349, 636–638), Thresholdout.

    >>> thresholdout(0.96, 0.71, threshold=0.1, noise=(0.01, -0.02, 0.014))
    0.72
    >>> thresholdout(0.96, 0.93, threshold=0.1, noise=(0.01, -0.02, 0.014)) is None
    True
    """
    of_threshold, of_comparison, of_answer = noise
    if abs(open_rate - hidden_rate) <= threshold + of_threshold + of_comparison:
        return None
    return round(min(1.0, max(0.0, hidden_rate + of_answer)), 2)


def gap_interval(
    open_passed: int, open_total: int, hidden_rate: float, hidden_total: int, *, noise_scale: float = 0.0
) -> Interval:
    """Return the 95 % interval of the pass rate of the open half less that of the hidden half.

    The Wilson intervals of both rates are combined. Where the hidden rate is noisy, each end is that of the
    rate at the end of the range of the noise, rounding included, and both errors add up to 5 %; the interval
    then covers more.

    Own code: `difference_of_proportions` takes counts, and no noise.

    Args:
        open_passed: cases of the open half that pass.
        open_total: cases of the open half, at least 1.
        hidden_rate: 0.0 to 1.0.
        hidden_total: cases of the hidden half, at least 1.
        noise_scale: of the Laplace noise in `hidden_rate`, 0 for an exact rate.

    Returns:
        Lower and upper bound, −1.0 to 1.0.

    Source: Newcombe, 1998 (Statistics in Medicine 17, 873–890), method 10; own extension to noise.

    >>> low, high = gap_interval(56, 70, 0.6, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    >>> low, high = gap_interval(56, 70, 0.6, 80, noise_scale=0.01)
    >>> round(low, 4), round(high, 4)
    (-0.0022, 0.3901)
    """
    if not noise_scale:
        return _newcombe(open_passed, open_total, hidden_rate, hidden_total, LEVEL)
    level = 1 - (1 - NOISE_SHARE) * (1 - LEVEL)
    bound = noise_bound(noise_scale) + 0.005
    highest, lowest = min(1.0, hidden_rate + bound), max(0.0, hidden_rate - bound)
    low, _ = _newcombe(open_passed, open_total, highest, hidden_total, level)
    _, high = _newcombe(open_passed, open_total, lowest, hidden_total, level)
    return low, high


def _newcombe(passed: int, total: int, other_rate: float, other_total: int, level: float) -> Interval:
    rate = passed / total
    low, high = wilson_interval(passed, total, level=level)
    other_low, other_high = wilson_interval(other_rate * other_total, other_total, level=level)
    value = rate - other_rate
    return (
        value - math.hypot(rate - low, other_high - other_rate),
        value + math.hypot(high - rate, other_rate - other_low),
    )
