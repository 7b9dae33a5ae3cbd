"""Pure numbers: intervals, percentiles and ranks of the leaderboards and gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Interval = tuple[float, float]

LEVEL = 0.95
REPLICATES = 1_000
SEED = 20_250_101
_DRAWS_AT_ONCE = 2_000_000
_TIE = 1e-9


def cohen_kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Agreement of two raters beyond what chance would give.

    Args:
        first, second: their yes or no on the same things, in the same order.

    Returns:
        1.0 for full agreement, 0.0 for that of chance, less for less; None where there is nothing, or where
        both say the same of everything, so that chance would agree as well.

    Source: Cohen, 1960.

    >>> cohen_kappa([True, True, False, False], [True, False, False, False])
    0.5
    """
    if not first:
        return None
    n = len(first)
    observed = sum(one == other for one, other in zip(first, second, strict=True)) / n
    yes = sum(first) / n, sum(second) / n
    expected = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if expected >= 1.0 else (observed - expected) / (1 - expected)


def wilson_interval(successes: int, total: int, *, level: float = LEVEL) -> Interval:
    """Score interval of a proportion; honest for few trials and for shares near 0 and 1.

    (p + z²/2n ± z·sqrt(p(1−p)/n + z²/4n²)) / (1 + z²/n), with p = successes / n.

    Args:
        successes: 0 to `total`.
        total: trials, at least 1.
        level: coverage, between 0 and 1.

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
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = successes / total
    centre = share + z * z / (2 * total)
    reach = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low = 0.0 if successes == 0 else (centre - reach) / scale
    high = 1.0 if successes == total else (centre + reach) / scale
    return low, high


def cluster_bootstrap_interval(
    values: Sequence[float] | Floats,
    clusters: Sequence[int] | npt.NDArray[np.int64],
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> Interval | None:
    """Percentile interval of a mean whose values come in clusters (an original case, its perturbations and
    repeats).

    Whole clusters are drawn with replacement; each draw's mean is the sum of its values over their number.

    Args:
        values: one per row.
        clusters: the cluster of each row, a small integer from 0.

    Returns:
        Lower and upper bound, None where fewer than two clusters leave nothing to vary.

    Source: Davison and Hinkley, 1997, section 3.8 (resampling at the highest level of a hierarchy).

    >>> cluster_bootstrap_interval([1.0, 1.0, 1.0], [0, 1, 2])
    (1.0, 1.0)
    >>> cluster_bootstrap_interval([0.2, 0.9], [0, 0]) is None
    True
    """
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    groups = np.asarray(clusters, dtype=np.int64)
    if not numbers.size:
        return None
    _, groups = np.unique(groups, return_inverse=True)
    sums: Floats = np.bincount(groups, weights=numbers)[:, None].astype(np.float64)
    counts = np.bincount(groups)[:, None].astype(np.float64)
    return cluster_bootstrap_intervals(sums, counts, level=level, replicates=replicates, seed=seed)[0]


def cluster_bootstrap_intervals(
    sums: Floats, counts: Floats, *, level: float = LEVEL, replicates: int = REPLICATES, seed: int = SEED
) -> list[Interval | None]:
    """`cluster_bootstrap_interval` of many means at once, over the same draws of clusters.

    Args:
        sums: clusters × means, the sum of each cluster's values.
        counts: clusters × means, how many values they were; 0 where a mean has none in that cluster.

    Returns:
        One interval per mean, None where fewer than two clusters hold values. Draws without any value of a
        mean are left out of its interval.
    """
    import numpy as np

    total, width = sums.shape
    rng = np.random.default_rng(seed)
    means = np.empty((replicates, width))
    block = max(1, _DRAWS_AT_ONCE // max(1, total))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        drawn = rng.integers(0, total, size=(size, total), dtype=np.uint32)
        weights = np.stack([np.bincount(row, minlength=total) for row in drawn]).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start : start + size] = (weights @ sums) / (weights @ counts)
    tails = [50 * (1 - level), 50 * (1 + level)]
    filled = (counts > 0).sum(axis=0)
    found: list[Interval | None] = []
    for column in range(width):
        usable = means[:, column][np.isfinite(means[:, column])]
        if filled[column] < 2 or not usable.size:
            found.append(None)
            continue
        low, high = np.percentile(usable, tails)
        found.append((float(low), float(high)))
    return found


def percentile(values: Sequence[float] | Floats, share: float) -> float:
    """The value below which that share (0 to 100) of the values lies, linear between neighbours.

    Raises:
        ValueError: if there are no values.

    Source: Hyndman and Fan, 1996, definition 7.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 50)
    2.5
    """
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        raise ValueError("no values have no percentile")
    return float(np.percentile(numbers, share))


def ranks(values: Sequence[float | None], *, higher_is_better: bool = True) -> list[int | None]:
    """Places from 1 for the best; ties share the better place, what has no value has none.

    Values closer than a billionth of their size are a tie: sums of the same scores in another order are.

    >>> ranks([0.5, 0.9, 0.5, None])
    [2, 1, 2, None]
    """
    order = sorted(
        (i for i, value in enumerate(values) if value is not None),
        key=lambda i: values[i] or 0.0,
        reverse=higher_is_better,
    )
    places: list[int | None] = [None] * len(values)
    for place, i in enumerate(order, start=1):
        before = order[place - 2] if place > 1 else None
        if before is not None and is_tie(values[before] or 0.0, values[i] or 0.0):
            places[i] = places[before]
        else:
            places[i] = place
    return places


def is_tie(one: float, other: float) -> bool:
    """Whether two values differ by no more than the noise of summing.

    >>> is_tie(0.1 + 0.2, 0.3), is_tie(0.3, 0.31)
    (True, False)
    """
    return math.isclose(one, other, rel_tol=_TIE, abs_tol=_TIE)
