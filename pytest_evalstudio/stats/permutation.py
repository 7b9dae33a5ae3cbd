"""Permutation tests within strata, so that an easier or harder mix is not mistaken for an effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.stats.types import Floats

DRAWS = 4_999
"""Permutations besides the observed order; p is at least 1 / 5000."""
_TOLERANCE = 1e-9  # sums in another order differ in the last digits, and equal ones must count


@dataclass(frozen=True, slots=True)
class Stratum:
    """The scores of one kind, at least one of each.

    Attributes:
        values: scores that are tested.
        others: scores that they are compared with.
    """

    values: Floats
    others: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedComparison:
    """The result of `compare_within_strata`.

    Attributes:
        probability: that a value is lower than one of the others of its stratum, ties counted half; 0.5 for
            no difference.
        p_probability: of the permutation test that it is above 0.5, one-sided (van Elteren's test, weighted
            by the mix of the values).
        distance: largest difference of the cumulative shares, values less others in the mix of the values;
            0.0 to 1.0.
        p_distance: of the permutation test that it is above 0, one-sided (Kolmogorov–Smirnov).
        mean: of the others in the mix of the values.
    """

    probability: float
    p_probability: float
    distance: float
    p_distance: float
    mean: float


def compare_within_strata(
    strata: Sequence[Stratum], *, seed: int, draws: int = DRAWS
) -> StratifiedComparison:
    """Test whether values are lower than others of the same stratum; higher is better.

    The scores of each stratum are permuted by themselves. p is the share of permutations, the observed order
    included, that are at least as extreme. Own code: `scipy.stats.permutation_test` does not permute within
    strata.

    Args:
        strata: at least one.
        seed: of the permutations; the same seed gives the same result.
        draws: number of permutations.

    Source: van Elteren, 1960; Good, 2005 (Permutation, Parametric and Bootstrap Tests of Hypotheses,
        chapter 6: blocks).

    >>> same = compare_within_strata([Stratum(np.ones(4), np.ones(6))], seed=0, draws=99)
    >>> same.probability, same.p_probability
    (0.5, 1.0)
    """
    rng = np.random.default_rng(seed)
    total = sum(len(stratum.values) for stratum in strata)
    points = np.unique(np.concatenate([np.concatenate([part.values, part.others]) for part in strata]))
    lower: Floats = np.zeros(draws + 1)
    gaps: Floats = np.zeros((draws + 1, len(points)))
    mean = 0.0
    for stratum in strata:
        size, other_size = len(stratum.values), len(stratum.others)
        scores = np.concatenate([stratum.values, stratum.others])
        dealt = _permutations(size, size + other_size, draws, rng)
        lower += (size * other_size + size * (size + 1) / 2 - dealt @ _mean_ranks(scores)) / other_size
        up_to = (scores[:, None] <= points[None, :] + _TOLERANCE).astype(np.float64)
        gaps += (dealt @ up_to) * (1 + size / other_size) - size / other_size * up_to.sum(axis=0)
        mean += size * float(stratum.others.mean())
    probabilities, distances = lower / total, gaps.max(axis=1) / total
    return StratifiedComparison(
        probability=float(probabilities[0]),
        p_probability=_share_as_extreme(probabilities),
        distance=max(0.0, float(distances[0])),
        p_distance=_share_as_extreme(distances),
        mean=mean / total,
    )


def _permutations(size: int, total: int, draws: int, rng: np.random.Generator) -> Floats:
    """Return rows of zeros with `size` ones each, shape (draws + 1, total); the first row is the observed."""
    order = np.argsort(rng.random((draws, total)), axis=1)
    dealt = np.zeros((draws + 1, total))
    dealt[0, :size] = 1.0
    np.put_along_axis(dealt[1:], order[:, :size], 1.0, axis=1)
    return dealt


def _mean_ranks(scores: Floats) -> Floats:
    """Return the ranks from 1, ties at their mean."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def _share_as_extreme(statistics: Floats) -> float:
    """Return the share of statistics that are at least as large as the first."""
    return float((statistics >= statistics[0] - _TOLERANCE).mean())
