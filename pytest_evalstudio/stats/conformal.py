"""Split conformal prediction for binary labels."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.stats.types import LEVEL, Floats, Interval


def nonconformity(probabilities: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Return |y − f(x)|, the distance of each label from the predicted probability.

    Args:
        probabilities: f(x), of label 1, by a curve that was not fitted to these labels; any shape.
        labels: y, 1 or 0; same shape.

    Returns:
        0.0 (as predicted) to 1.0; same shape.

    Source: Sudjianto et al., 2024 (HCAT), section 5.2, step 1.

    >>> nonconformity([0.75, 0.75], [1, 0]).tolist()
    [0.25, 0.75]
    """
    good = np.asarray(labels) == 1
    values = np.asarray(probabilities, dtype=np.float64)
    return np.where(good, 1 - values, values)


def rank_of_quantile(count: int, alpha: float) -> int:
    """Return the rank of the conformal quantile among `count` scores: ⌈(count + 1)(1 − alpha)⌉.

    Args:
        count: number of scores.
        alpha: share of labels that prediction sets may miss, between 0 and 1.

    Returns:
        A rank from 1 in rising order; more than `count` where there are too few scores.

    >>> rank_of_quantile(9, 0.1), rank_of_quantile(8, 0.1)
    (9, 9)
    """
    # Rounded first: 25 × (1 − 0.44) is 14.000000000000002 in floating point, whose ceiling is 15.
    return math.ceil(round((count + 1) * (1 - alpha), 9))


def min_labels(alpha: float) -> int:
    """Return the smallest number of labels with a quantile; with fewer, every set holds both labels.

    >>> min_labels(0.1), min_labels(0.05)
    (9, 19)
    """
    return math.ceil(round(1 / alpha, 9)) - 1


def conformal_quantile(scores: npt.ArrayLike, alpha: float) -> Floats:
    """Return the ⌈(n + 1)(1 − alpha)⌉-th smallest of n nonconformity scores, along the last axis.

    The score of a new, exchangeable answer is no greater with a probability of at least 1 − alpha, and of at
    most 1 − alpha + 1 / (n + 1) where no scores are equal.

    Own code: no library of the extra `mrm` has conformal prediction.

    Args:
        scores: shape (..., n), 0.0 to 1.0.
        alpha: between 0 and 1.

    Returns:
        Shape (...); 1.0, which excludes no label, where n is below `min_labels`.

    Source: Sudjianto et al., 2024 (HCAT), section 5.2, step 2; Vovk, Gammerman and Shafer, 2005.

    >>> float(conformal_quantile([0.3, 0.1, 0.2, 0.4], 0.4))
    0.3
    """
    values = np.sort(np.asarray(scores, dtype=np.float64), axis=-1)
    rank = rank_of_quantile(values.shape[-1], alpha)
    if rank > values.shape[-1]:
        return np.ones(values.shape[:-1])
    return np.asarray(values[..., rank - 1], dtype=np.float64)


def expected_coverage(count: int, alpha: float, *, level: float = LEVEL) -> tuple[float, Interval]:
    """Return the expected share of new answers that the sets of one calibration cover, with an interval.

    Over the draw of the `count` answers of the quantile, the share has the distribution
    Beta(k, count + 1 − k) with k the quantile's rank, where no scores are equal; with ties it is greater.

    Args:
        count: answers of the quantile, at least `min_labels`.
        alpha: between 0 and 1.
        level: coverage of the interval.

    Returns:
        The mean, 0.0 to 1.0, and its lower and upper bound.

    Source: Vovk, 2012, Conditional validity of inductive conformal predictors; Angelopoulos and Bates, 2023,
        section 3.2.

    >>> share, (low, high) = expected_coverage(20, 0.1)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.905, 0.751, 0.988)
    """
    rank = rank_of_quantile(count, alpha)
    distribution = import_extra("scipy.stats", "calibrating").beta(rank, count + 1 - rank)
    low, high = distribution.ppf([0.5 - level / 2, 0.5 + level / 2])
    return rank / (count + 1), (float(low), float(high))
