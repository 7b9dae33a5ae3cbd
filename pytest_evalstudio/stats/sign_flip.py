"""Sign-flip test of paired differences; with differences of one size it is McNemar's exact test."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from pytest_evalstudio.stats.types import Floats, Integers

DRAWS = 9_999
"""Random assignments of signs besides the observed one; p is at least 1 / 10,000."""
_MAX_ENUMERATED = 16  # 65,536 patterns of signs
_MAX_DRAWN = 1_000
_MAX_SHIFTS = 20_000_000
_TOLERANCE = 1e-9  # sums in another order differ in the last digits, and equal ones must count


def sign_flip_drop(differences: Floats, *, draws: int = DRAWS, seed: int = 0) -> float:
    """Return p of the sign-flip test that differences are below zero on average; one-sided.

    Under the null hypothesis each difference is equally likely to have the other sign. Differences of one
    size have a binomial distribution (McNemar's exact test); up to 16 others are enumerated, and any number
    of small multiples of one size; up to 1,000 of the rest are drawn, and more have the normal approximation.
    Own code: scipy is not installed with the core.

    Args:
        differences: shape (n,), new less base of each independent pair; zeros have no effect.
        draws: number of random assignments.
        seed: of the draws; the same seed gives the same result.

    Returns:
        p, 0.0 to 1.0; small where differences are below zero. 1.0 without any difference.

    Source: Fisher, 1935 (The Design of Experiments, section 21); McNemar, 1947 (Psychometrika 12, 153–157);
        Streitberg and Röhmel, 1986 (shift algorithm for multiples).

    >>> sign_flip_drop(np.array([-1.0, -1.0, -1.0, -1.0, 0.0]))
    0.0625
    >>> sign_flip_drop(np.array([-0.5, -0.25, 0.1]))
    0.25
    """
    nonzero = differences[np.abs(differences) > _TOLERANCE]
    if not nonzero.size:
        return 1.0
    sizes, falls = np.abs(nonzero), int((nonzero < 0).sum())
    if np.ptp(sizes) <= _TOLERANCE:
        return _binomial_tail(len(nonzero), falls)
    if len(nonzero) <= _MAX_ENUMERATED:
        codes = np.arange(2 ** len(nonzero))[:, None] >> np.arange(len(nonzero)) & 1
        sums = (2.0 * codes - 1.0) @ sizes
        return float((sums <= nonzero.sum() + _TOLERANCE).mean())
    steps = np.rint(sizes / sizes.min()).astype(np.int64)
    if steps.sum() * len(nonzero) <= _MAX_SHIFTS and (abs(sizes / sizes.min() - steps) <= _TOLERANCE).all():
        return _multiples_tail(steps, int(steps[nonzero < 0].sum()))
    if len(nonzero) > _MAX_DRAWN:
        return NormalDist().cdf(float(nonzero.sum()) / math.sqrt(float((sizes**2).sum())))
    rng = np.random.default_rng(seed)
    extreme = 1
    block = max(1, 2_000_000 // len(nonzero))  # bounds memory
    for start in range(0, draws, block):
        signs = rng.integers(0, 2, size=(min(block, draws - start), len(nonzero)), dtype=np.int8)
        extreme += int((((2.0 * signs - 1.0) @ sizes) <= nonzero.sum() + _TOLERANCE).sum())
    return extreme / (draws + 1)


def _multiples_tail(steps: Integers, falls: int) -> float:
    """Return the share of all assignments of signs whose falls sum to at least `falls` steps."""
    shares = np.zeros(int(steps.sum()) + 1)
    shares[0] = 1.0
    for step in steps.tolist():
        shares = shares / 2
        shares[step:] += shares[: len(shares) - step].copy()
    return min(1.0, float(shares[falls:].sum()))


def sign_flip(differences: Floats, *, seed: int = 0) -> float:
    """Return p of the sign-flip test that differences are zero on average; two-sided.

    Args:
        differences: as in `sign_flip_drop`.
        seed: as in `sign_flip_drop`.

    Returns:
        p, 0.0 to 1.0; twice the smaller one-sided p.

    >>> sign_flip(np.array([1.0, 1.0, 1.0, 1.0, 2.0, 0.0]))
    0.0625
    """
    return min(1.0, 2 * min(sign_flip_drop(sign * differences, seed=seed) for sign in (1.0, -1.0)))


def sign_test(rises: int, falls: int) -> float:
    """Return p of the exact test that rises and falls are equally likely; two-sided.

    Args:
        rises: number of rises.
        falls: number of falls.

    Returns:
        p, 0.0 to 1.0; 1.0 where there are neither.

    Source: Dixon and Mood, 1946 (JASA 41, 557–566).

    >>> sign_test(9, 1)
    0.021484375
    """
    return min(1.0, 2 * _binomial_tail(rises + falls, max(rises, falls)))


def _binomial_tail(total: int, falls: int) -> float:
    """Return the probability of at least `falls` heads in `total` tosses of a fair coin."""
    if total > 1_000:  # the powers of two of the exact sum do not fit a float
        logs = [
            math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
            for count in range(falls, total + 1)
        ]
        highest = max(logs)
        return min(
            1.0, math.exp(highest - total * math.log(2)) * math.fsum(math.exp(log - highest) for log in logs)
        )
    ways = combinations = math.comb(total, falls)
    for count in range(falls, total):
        combinations = combinations * (total - count) // (count + 1)
        ways += combinations
    return float(ways / 2**total)
