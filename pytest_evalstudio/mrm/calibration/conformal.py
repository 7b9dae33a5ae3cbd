"""Split conformal prediction: how far a calibrated probability may lie from people's label."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.mrm.extra import needed

Floats = npt.NDArray[np.float64]


def nonconformity(chances: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """|y − f(x)| of each answer: how unlikely the label is that people gave, 0.0 to 1.0.

    Args:
        chances: f(x), the probability that the answer is good, by a curve that was not fitted to these
            labels.
        labels: y, 1 for good and 0 for bad.

    Source: Sudjianto et al., 2024 (HCAT), section 5.2, step 1.
    """
    good = np.asarray(labels) == 1
    values = np.asarray(chances, dtype=np.float64)
    return np.where(good, 1 - values, values)


def rank_of_quantile(count: int, alpha: float) -> int:
    """Which of `count` scores in rising order is the quantile: ⌈(count + 1)(1 − alpha)⌉; more than `count`
    where they are too few.

    >>> rank_of_quantile(9, 0.1), rank_of_quantile(8, 0.1)
    (9, 9)
    """
    return math.ceil(round((count + 1) * (1 - alpha), 9))


def least_labels(alpha: float) -> int:
    """The fewest labels of which there is a quantile: with fewer every set would hold both labels.

    >>> least_labels(0.1), least_labels(0.05)
    (9, 19)
    """
    return math.ceil(round(1 / alpha, 9)) - 1


def conformal_quantile(scores: npt.ArrayLike, alpha: float) -> Floats:
    """The ⌈(n + 1)(1 − alpha)⌉-th smallest of n nonconformity scores, along the last axis.

    A new answer's nonconformity is no greater with a probability of at least 1 − alpha, if it is exchangeable
    with these; with a probability of at most 1 − alpha + 1 / (n + 1) where no scores are equal.

    Returns:
        The quantile; 1.0, which excludes nothing, where n is below `least_labels`.

    Source: Sudjianto et al., 2024 (HCAT), section 5.2, step 2; Vovk, Gammerman and Shafer, 2005.

    >>> float(conformal_quantile([0.3, 0.1, 0.2, 0.4], 0.4))
    0.3
    """
    values = np.sort(np.asarray(scores, dtype=np.float64), axis=-1)
    rank = rank_of_quantile(values.shape[-1], alpha)
    if rank > values.shape[-1]:
        return np.ones(values.shape[:-1])
    return np.asarray(values[..., rank - 1], dtype=np.float64)


def expected_coverage(count: int, alpha: float, *, level: float = 0.95) -> tuple[float, tuple[float, float]]:
    """What share of new answers the sets of one calibration will cover: the mean of what is to be expected,
    and an interval.

    Over the draw of the `count` answers that gave the quantile, the share has the distribution Beta(k, count
    + 1 − k), with k their rank, where no scores are equal; with ties it is greater.

    Args:
        count: answers that the quantile is of, at least `least_labels`.
        level: of the interval.

    Source: Vovk, 2012, Conditional validity of inductive conformal predictors; Angelopoulos and Bates, 2023,
        section 3.2.

    >>> share, (low, high) = expected_coverage(20, 0.1)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.905, 0.751, 0.988)
    """
    rank = rank_of_quantile(count, alpha)
    distribution = needed("scipy.stats", "calibrating").beta(rank, count + 1 - rank)
    low, high = distribution.ppf([0.5 - level / 2, 0.5 + level / 2])
    return rank / (count + 1), (float(low), float(high))
