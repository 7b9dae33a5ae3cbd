"""Error budget of many looks at one baseline: an e-process of paired differences."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from pytest_evalstudio.stats.types import Booleans, Floats

EFFECT_SCALE = 3.0
"""Scale of the prior of the drop, in standard deviations of the mean of one run."""
_MAX_EXPONENT = 700.0  # exp of more overflows


def mixture_evidence(statistic: float, information: float) -> float:
    """Return the e-value of a standardised drop: the likelihood ratio, mixed over half-normal drops.

    2·(1+τ²I)^(−1/2)·exp(τ²B²/(2(1+τ²I)))·Φ(τB/√(1+τ²I)), with B = z·√I and τ = `EFFECT_SCALE`.

    Args:
        statistic: z, standard normal without a drop; positive for a drop.
        information: I, inverse of the variance of the difference in units of the variance of one run.

    Returns:
        At least 0; its mean is at most 1 without a drop.

    Source: Robbins, 1970 (Annals of Mathematical Statistics 41, 1397–1409); Howard et al., 2021 (Annals of
    Statistics 49, 1055–1080), one-sided normal mixture.

    >>> round(mixture_evidence(3.0, 1.0), 1), round(mixture_evidence(0.0, 1.0), 2)
    (36.2, 0.32)
    """
    score = statistic * math.sqrt(information)
    spread = 1 + EFFECT_SCALE**2 * information
    exponent = EFFECT_SCALE**2 * score**2 / (2 * spread)
    tail = NormalDist().cdf(EFFECT_SCALE * score / math.sqrt(spread))
    return 2 / math.sqrt(spread) * math.exp(min(exponent, _MAX_EXPONENT)) * tail


def look_weight(look: int) -> float:
    """Return the share of the budget that is for a drop which begins at a look, from 1: 1/(k(k+1)).

    >>> look_weight(1), look_weight(4)
    (0.5, 0.05)
    """
    return 1 / (look * (look + 1))


def spent_share(looks: int) -> float:
    """Return the share of the budget that some looks have used: the sum of their weights.

    >>> spent_share(0), spent_share(3)
    (0.0, 0.75)
    """
    return looks / (looks + 1)


def drop_evidence(scores: Floats) -> float:
    """Return the evidence that scores dropped since the baseline, valid at all looks together.

    For a drop that begins at look k, the mean of a case before it, baseline included, is paired with its mean
    from it on. The sum of the differences is divided by the root of the sum of their squares, as in the
    sign-flip test, or by its standard deviation from the variance of each case over all runs, where that is
    larger: a baseline in which a rare failure is missing differs from all later runs in the same way. The
    e-values are mixed over k by `look_weight`. Looks before the drop make the baseline more exact.

    The mean of the cases is taken as normal. Without a drop the evidence then reaches 1/α at any look of an
    endless stream with a probability of at most α (Ville's inequality).

    Args:
        scores: shape (looks + 1, cases), higher is better, the baseline first; NaN where a run has no score.

    Returns:
        At least 0; 1 without looks.

    Source: own combination of the mixture of Howard et al., 2021, with the mixture over change points of
    Shiryaev, 1963, and Waudby-Smith & Ramdas, 2024 (JRSS B 86, 1–27) on bets that are added up.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> same = rng.random((6, 200)) < 0.8
    >>> bool(drop_evidence(same.astype(float)) < 20)
    True
    >>> worse = np.vstack([same, rng.random((2, 200)) < 0.5])
    >>> bool(drop_evidence(worse.astype(float)) > 20)
    True
    """
    has_score = ~np.isnan(scores)
    values = np.where(has_score, scores, 0.0)
    sums = np.cumsum(values, axis=0)
    # One column for all cases, where each run scored all of them, makes the rest several times as fast.
    counts = np.arange(1, len(scores) + 1)[:, None] if has_score.all() else np.cumsum(has_score, axis=0)
    before, after = counts[:-1], counts[-1] - counts[:-1]  # a row for each look at which a drop may begin
    is_possible = (before > 0) & (after > 0)
    before_counts, after_counts = np.maximum(before, 1), np.maximum(after, 1)
    drops = np.where(is_possible, sums[:-1] / before_counts - (sums[-1] - sums[:-1]) / after_counts, 0.0)
    spread = np.where(
        is_possible, _variances(values, has_score) * (1 / before_counts + 1 / after_counts), 0.0
    )
    squares = np.maximum(np.einsum("ij,ij->i", drops, drops), np.sum(spread, axis=1))
    statistics = np.sum(drops, axis=1) / np.sqrt(np.where(squares > 0, squares, 1.0))
    pairs = np.where(is_possible, before_counts * after_counts / (before_counts + after_counts), 0.0)
    information = np.sum(pairs, axis=1) / np.maximum(np.sum(is_possible, axis=1), 1)
    looks = len(scores) - 1
    return (1 - spent_share(looks)) + sum(
        look_weight(look) * mixture_evidence(float(statistic), float(amount))
        for look, (statistic, amount) in enumerate(zip(statistics, information, strict=True), 1)
    )


def _variances(values: Floats, has_score: Booleans) -> Floats:
    """Return the variance of each case over all runs, 0 for a single score."""
    total = np.sum(has_score, axis=0)
    means = np.sum(values, axis=0) / np.maximum(total, 1)
    squares = np.sum(np.where(has_score, (values - means) ** 2, 0.0), axis=0)
    return np.asarray(squares / np.maximum(total - 1, 1))
