"""One-sided exact tests of paired observations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.stats.types import Floats, Integers

_MAX_EXACT_DIFFERENCES = 200
"""With more differences the normal approximation is as good."""


def matched_failures(matches: Sequence[tuple[bool, Sequence[bool]]]) -> float:
    """Return p of the exact test that an answer fails more often than its controls; one-sided.

    Under the null hypothesis the failure in a matched set is equally likely to be any of its answers, so
    that the number of failures is a sum of independent draws. With one control it is McNemar's exact test.
    Own code: no library of the extra `mrm` supports a varying number of controls.

    Args:
        matches: for each question whether this answer fails, and whether each control fails.

    Returns:
        p, 0.0 to 1.0; small where this answer fails more often.

    Source: Miettinen, 1969 (Biometrics 25, 339–355; matching with several controls), exact.

    >>> matched_failures([(True, [False])] * 3)
    0.125
    """
    probabilities = [(failed + sum(controls)) / (1 + len(controls)) for failed, controls in matches]
    return _poisson_binomial_tail(probabilities, sum(failed for failed, _ in matches))


def wilcoxon_drop(before: Floats, after: Floats) -> float:
    """Return p of the signed-rank test that scores are lower afterwards; one-sided.

    Pairs without a difference are left out. Exact, ties included, for up to 200 differences; beyond that it
    is the normal approximation, corrected for continuity. Own code: a step that needs no extra uses it, and
    scipy is not installed with the core.

    Args:
        before: shape (n,), scores of the same questions in the same order; higher is better.
        after: shape (n,), scores of the same questions in the same order; higher is better.

    Returns:
        p, 0.0 to 1.0; small where scores drop.

    Source: Wilcoxon, 1945 (Biometrics Bulletin 1, 80–83).

    >>> wilcoxon_drop(np.array([0.9, 0.8, 0.7]), np.array([0.5, 0.5, 0.6]))
    0.125
    """
    difference = before - after
    difference = difference[np.abs(difference) > 1e-12]
    if not difference.size:
        return 1.0
    doubled = _doubled_ranks(np.abs(difference))
    observed = int(doubled[difference > 0].sum())
    if len(doubled) <= _MAX_EXACT_DIFFERENCES:
        return _signed_rank_tail(doubled, observed)
    spread = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / 2
    return 0.5 * math.erfc((observed - doubled.sum() / 2 - 1) / spread / math.sqrt(2))


def _poisson_binomial_tail(probabilities: Sequence[float], min_count: int) -> float:
    """Return the probability that at least `min_count` of independent events happen."""
    counts = np.zeros(len(probabilities) + 1)
    counts[0] = 1.0
    for probability in probabilities:
        counts[1:] = counts[1:] * (1 - probability) + counts[:-1] * probability
        counts[0] *= 1 - probability
    return min(1.0, float(counts[min_count:].sum()))


def _doubled_ranks(values: Floats) -> Integers:
    """Return twice the ranks from 1, ties at their mean; doubled ranks are integers."""
    _, inverse, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    doubled: Integers = (2 * np.cumsum(counts) - counts + 1)[inverse]
    return doubled


def _signed_rank_tail(doubled: Integers, observed: int) -> float:
    """Return the share of all assignments of signs whose positive ranks sum to at least `observed`."""
    shares = np.zeros(int(doubled.sum()) + 1)
    shares[0] = 1.0
    for rank in doubled.tolist():
        shares = shares / 2
        shares[rank:] += shares[: len(shares) - rank].copy()
    return min(1.0, float(shares[observed:].sum()))
