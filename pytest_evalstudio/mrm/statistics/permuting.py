"""Scores against others of the same kind: permutation tests within kinds, so that an easier or harder mix is
not taken for an effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.mrm.statistics.comparing import Floats

DRAWS = 4_999
"""Random orders besides the one that was seen; p is no less than 1 / 5000."""
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Stratum:
    """The scores of one kind; neither is empty."""

    own: Floats
    others: Floats


@dataclass(frozen=True, slots=True)
class Stratified:
    """What own scores are beside others in the same mix of kinds.

    Attributes:
        chance: how likely a score is lower than one of the others of its kind, ties counted half; 0.5 for no
            difference.
        p_chance: of the permutation test that it is no more than 0.5, one-sided (van Elteren's test, with the
            weights of the own mix).
        distance: the greatest difference of the cumulative shares, own less others in the own mix; 0.0 to
            1.0.
        p_distance: of the permutation test that it is 0, one-sided (Kolmogorov–Smirnov).
        mean: of the others in the own mix.
    """

    chance: float
    p_chance: float
    distance: float
    p_distance: float
    mean: float


def stratified(strata: Sequence[Stratum], *, seed: int, draws: int = DRAWS) -> Stratified:
    """Compare within kinds; higher is better.

    Scores of a kind are dealt anew to own and others, each kind by itself, many times; p is the share of
    deals, the one that was seen among them, that are as extreme.

    Source: van Elteren, 1960; Good, 2005 (Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter
        6: blocks).
    """
    rng = np.random.default_rng(seed)
    total = sum(len(stratum.own) for stratum in strata)
    points = np.unique(np.concatenate([np.concatenate([stratum.own, stratum.others]) for stratum in strata]))
    lower: Floats = np.zeros(draws + 1)
    gaps: Floats = np.zeros((draws + 1, len(points)))
    mean = 0.0
    for stratum in strata:
        few, many = len(stratum.own), len(stratum.others)
        scores = np.concatenate([stratum.own, stratum.others])
        dealt = _deals(few, few + many, draws, rng)
        lower += (few * many + few * (few + 1) / 2 - dealt @ _ranks(scores)) / many
        up_to = (scores[:, None] <= points[None, :] + _NEAR).astype(np.float64)
        gaps += (dealt @ up_to) * (1 + few / many) - few / many * up_to.sum(axis=0)
        mean += few * float(stratum.others.mean())
    chances, distances = lower / total, gaps.max(axis=1) / total
    return Stratified(
        float(chances[0]), _share(chances), max(0.0, float(distances[0])), _share(distances), mean / total
    )


def _deals(few: int, size: int, draws: int, rng: np.random.Generator) -> Floats:
    """Rows of ones and zeros with so many ones; the first row is what was seen."""
    order = np.argsort(rng.random((draws, size)), axis=1)
    dealt = np.zeros((draws + 1, size))
    dealt[0, :few] = 1.0
    np.put_along_axis(dealt[1:], order[:, :few], 1.0, axis=1)
    return dealt


def _ranks(scores: Floats) -> Floats:
    """Ranks from 1, ties at their mean."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: npt.NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def _share(found: Floats) -> float:
    return float((found >= found[0] - _NEAR).mean())
