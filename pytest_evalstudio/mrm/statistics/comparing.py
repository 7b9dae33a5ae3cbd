"""Are some scores lower than others: one-sided tests, their correction, and effects with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.engine.analysis.statistics import LEVEL, Interval, wilson_interval
from pytest_evalstudio.mrm.extra import needed

Floats = npt.NDArray[np.float64]
_HALVINGS = 60
_FEW = 25
_EXACT_UP_TO = 600


def fewer_passes(passed: int, total: int, other_passed: int, other_total: int) -> float:
    """p of Fisher's exact test that passes are no rarer among `total` than among the others; one-sided.

    Source: Fisher, 1922.
    """
    table = [[total - passed, passed], [other_total - other_passed, other_passed]]
    return float(needed("scipy.stats", "finding weaknesses").fisher_exact(table, alternative="greater")[1])


def lower_scores(values: Floats, others: Floats) -> float:
    """p of the Mann–Whitney test that values are no lower than others; one-sided.

    Exact, ties included, for up to 25 values among up to 600: where scores are skewed the normal
    approximation flags small cells too often. Beyond that it is taken, with corrections for ties and
    continuity.

    Source: Mann and Whitney, 1947; Streitberg and Röhmel, 1986 (shift algorithm).
    """
    if values.min() == values.max() == others.min() == others.max():
        return 1.0
    stats = needed("scipy.stats", "finding weaknesses")
    if len(values) <= _FEW and len(values) + len(others) <= _EXACT_UP_TO:
        ranks = np.rint(2 * stats.rankdata(np.concatenate([values, others]))).astype(np.int64)
        return _exact(ranks, len(values))
    return float(stats.mannwhitneyu(values, others, alternative="less").pvalue)


def _exact(ranks: npt.NDArray[np.int64], few: int) -> float:
    """The share of all ways to choose so many ranks whose sum is no greater than that of the first ones."""
    seen = int(ranks[:few].sum())
    ways = np.zeros((few + 1, seen + 1))
    ways[0, 0] = 1.0
    for rank in ranks.tolist():
        if rank <= seen:
            ways[1:, rank:] += ways[:-1, : seen + 1 - rank].copy()
    return min(1.0, float(ways[few].sum()) / math.comb(len(ranks), few))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that keep the chance of any false finding below the level, however the tests depend
    on each other.

    Source: Holm, 1979.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def share_difference(passed: int, total: int, other_passed: int, other_total: int) -> tuple[float, Interval]:
    """Difference of two shares, first less second, with its 95 % interval from the two shares' own (Wilson).

    Source: Newcombe, 1998 (Statistics in Medicine 17, 873–890), method 10.

    >>> value, (low, high) = share_difference(56, 70, 48, 80)
    >>> round(value, 4), round(low, 4), round(high, 4)
    (0.2, 0.0524, 0.3339)
    """
    one, other = passed / total, other_passed / other_total
    (low, high), (other_low, other_high) = (
        wilson_interval(passed, total),
        wilson_interval(other_passed, other_total),
    )
    value = one - other
    return value, (
        value - math.hypot(one - low, other_high - other),
        value + math.hypot(high - one, other - other_low),
    )


def chance_of_lower(values: Floats, others: Floats) -> tuple[float, Interval]:
    """How likely one of the values is to be lower than one of the others, ties counted half, with its 95 %
    interval.

    Returns:
        0.5 for no difference, 1.0 where every value is lower than every other.

    Source: Newcombe, 2006 (Statistics in Medicine 25, 559–573), method 5.
    """
    ordered = np.sort(others)
    above = len(others) - np.searchsorted(ordered, values, side="right")
    same = np.searchsorted(ordered, values, side="right") - np.searchsorted(ordered, values, side="left")
    chance = float((above + same / 2).mean() / len(others))
    return chance, chance_interval(chance, len(values), len(others))


def chance_interval(chance: float, one: int, other: int) -> Interval:
    """The 95 % interval of such a chance, of so many values and others.

    Source: Newcombe, 2006, method 5.
    """
    return _bound(chance, one, other, 0.0), _bound(chance, one, other, 1.0)


def _bound(chance: float, one: int, other: int, end: float) -> float:
    """The chance between the found one and an end of the range that is z standard errors, of its own, away
    from the found one.
    """
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    pooled = (one + other) / 2 - 1
    near, far = chance, end
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        variance = (
            middle
            * (1 - middle)
            * (1 + pooled * ((1 - middle) / (2 - middle) + middle / (1 + middle)))
            / (one * other)
        )
        if abs(chance - middle) < z * math.sqrt(variance):
            near = middle
        else:
            far = middle
    return near if chance != end else end
