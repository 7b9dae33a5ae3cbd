"""Paired comparisons: the same question asked in two ways, and asked again as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.mrm.statistics.comparing import Floats

_EXACT_UP_TO = 200
"""Differences; beyond that the normal approximation is as good."""


def fails_more_often(cases: Sequence[tuple[bool, Sequence[bool]]]) -> float:
    """p of the exact test that an answer fails no more often than the others to its own question do;
    one-sided.

    Where it makes no difference, the one that fails is as likely to be any of a question's answers: of each
    question the chance that it is this one is the share of failures, and the number of such failures is a sum
    of independent draws. With a single other answer it is the sign test of McNemar.

    Args:
        cases: for each question whether this answer fails, and whether the others do.

    Source: Miettinen, 1969 (Biometrics 25, 339–355; matching with several controls), exact.

    >>> fails_more_often([(True, [False])] * 3)
    0.125
    """
    chances = [(failed + sum(others)) / (1 + len(others)) for failed, others in cases]
    return _tail(chances, sum(failed for failed, _ in cases))


def scores_drop(before: Floats, after: Floats) -> float:
    """p of the signed-rank test that scores are no lower afterwards; one-sided.

    Pairs without a difference are left out. Exact, ties included, for up to 200 differences; beyond that the
    normal approximation, corrected for continuity.

    Args:
        before, after: of the same questions in the same order; higher is better.

    Source: Wilcoxon, 1945.

    >>> scores_drop(np.array([0.9, 0.8, 0.7]), np.array([0.5, 0.5, 0.6]))
    0.125
    """
    difference = before - after
    difference = difference[np.abs(difference) > 1e-12]
    if not difference.size:
        return 1.0
    doubled = _doubled_ranks(np.abs(difference))
    seen = int(doubled[difference > 0].sum())
    if len(doubled) <= _EXACT_UP_TO:
        return _rank_sum_tail(doubled, seen)
    spread = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / 2
    return 0.5 * math.erfc((seen - doubled.sum() / 2 - 1) / spread / math.sqrt(2))


def _tail(chances: Sequence[float], least: int) -> float:
    """The chance that so many or more of independent events happen."""
    ways = np.zeros(len(chances) + 1)
    ways[0] = 1.0
    for chance in chances:
        ways[1:] = ways[1:] * (1 - chance) + ways[:-1] * chance
        ways[0] *= 1 - chance
    return min(1.0, float(ways[least:].sum()))


def _doubled_ranks(values: Floats) -> npt.NDArray[np.int64]:
    """Twice the ranks from 1, ties at their mean, which are whole numbers."""
    _, inverse, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    doubled: npt.NDArray[np.int64] = (2 * np.cumsum(counts) - counts + 1)[inverse]
    return doubled


def _rank_sum_tail(doubled: npt.NDArray[np.int64], seen: int) -> float:
    """The share of all ways to give ranks a sign in which those with a plus come to at least the sum that was
    seen.
    """
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways = ways / 2
        ways[rank:] += ways[: len(ways) - rank].copy()
    return min(1.0, float(ways[seen:].sum()))
