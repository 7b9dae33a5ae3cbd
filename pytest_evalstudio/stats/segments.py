"""Permutation test of many groups of cases at once: in which of them did paired differences fall?"""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.stats.types import Floats

DRAWS = 9_999
"""Random assignments of signs besides the observed one; p is at least 1 / 10,000."""
_BLOCK = 4_000_000  # floats in memory at once
_TOLERANCE = 1e-5


def fallen_groups(sums: Floats, *, draws: int = DRAWS, seed: int = 0) -> tuple[list[float], list[float]]:
    """Test for each group that its differences are below zero; one-sided, with strong control of all groups.

    Under the null hypothesis the differences of a case are equally likely to have the other signs, all of
    them together, so that cases in several groups are accounted for. The sum of each group is divided by its
    standard deviation over the assignments of signs; the smallest value of all remaining groups is the
    reference of the step-down procedure.

    Args:
        sums: shape (cases, groups), sum of a case's differences in a group, 0.0 where it is not in it.
        draws: number of random assignments.
        seed: of the draws; the same seed gives the same result.

    Returns:
        p of each group alone, and p adjusted for all groups, each 1 / (draws + 1) to 1.0.

    Source: Westfall and Young, 1993 (Resampling-Based Multiple Testing, algorithm 4.1: step-down maxT);
        Fisher, 1935 (signs).

    >>> sums = np.zeros((20, 2))
    >>> sums[:10, 0], sums[10:, 1] = -1.0, 1.0
    >>> [round(p, 2) for p in fallen_groups(sums)[1]]
    [0.0, 1.0]
    """
    sums = sums[np.abs(sums).sum(axis=1) > _TOLERANCE].astype(np.float32)
    spread = np.sqrt((sums**2).sum(axis=0))
    spread = np.where(spread > _TOLERANCE, spread, np.inf)
    rng = np.random.default_rng(seed)
    observed = sums.sum(axis=0) / spread
    order = np.argsort(observed, kind="stable")
    single, least = np.ones(len(observed)), np.ones(len(observed))  # the observed assignment counts
    block = max(1, _BLOCK // max(sum(sums.shape), 1))
    for start in range(0, draws, block):
        signs = rng.integers(0, 2, size=(min(block, draws - start), len(sums)), dtype=np.int8)
        # Scaled after the sum: sums of whole numbers are exact, so that equal ones stay equal.
        values = ((2.0 * signs.astype(np.float32) - 1.0) @ sums) / spread
        single += (values <= observed + _TOLERANCE).sum(axis=0)
        ranked = values[:, order]
        smallest = np.minimum.accumulate(ranked[:, ::-1], axis=1)[:, ::-1]
        least += (smallest <= observed[order] + _TOLERANCE).sum(axis=0)
    adjusted = np.empty(len(observed))
    # Step-down: a group is compared with the smallest of those that are not below it, and p never falls.
    adjusted[order] = np.maximum.accumulate(least / (draws + 1))
    return (single / (draws + 1)).tolist(), adjusted.tolist()
