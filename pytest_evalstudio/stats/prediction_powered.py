"""Pass rates from a few human labels and the predictions of an evaluator for all answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.stats.intervals import student_quantile, wilson_interval
from pytest_evalstudio.stats.types import LEVEL, Booleans, Floats, Integers, Interval

_PSEUDO_ERROR = 0.5
"""Sum of squared errors that the labels of like predictions have at least, since a few labels without an
error do not exclude one. Set by the simulation of `tests/benchmarks/prediction_powered.py`.
"""

_ROUNDING = 1e-12
"""Variance of equal values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredEstimate:
    """Estimate of a rate of good answers, or of a difference of two rates.

    Attributes:
        value: 0.0 to 1.0; a difference: -1.0 to 1.0.
        labels: number of labelled answers.
    """

    value: float
    interval: Interval
    labels: int


class PredictionPowered:
    """Labels of a stratified random sample, and predictions for all answers.

    A label is predicted by c_h + λ·f, with the prediction f, power-tuned λ in [0, 1] and the mean c_h of the
    stratum; the mean of these predictions over all answers is corrected by the mean error of the labelled
    ones. With one stratum this is PPI++ for a mean, where λ weighs the labelled answers' predictions too:
    λ of the paper is this one times the share of answers without a label.

    Args:
        predictions: shape (n,), of the evaluator, e.g. 1.0 for a pass.
        labels: shape (n,); 1.0 good, 0.0 bad, NaN without a label.
        strata: shape (n,), numbers from 0. In each, the labelled answers are a random sample without
            replacement of at least two.
        clusters: shape (n,), number of each answer's question.

    Raises:
        ValueError: if a stratum has fewer than two labels.

    Source: Angelopoulos, Duchi and Zrnic, 2023 (PPI++, arXiv:2311.01453); Fisch et al., 2024 (strata);
        Särndal, Swensson and Wretman, 1992, 6.5 (regression estimator).

    >>> every = np.ones(4, dtype=bool)
    >>> data = PredictionPowered(np.array([1.0, 1, 0, 0]), np.array([1.0, np.nan, 0, np.nan]),
    ...     np.zeros(4, dtype=np.int64), np.arange(4))
    >>> data.tuning, data.rate(every).value
    (1.0, 0.5)
    """

    def __init__(self, predictions: Floats, labels: Floats, strata: Integers, clusters: Integers) -> None:
        rows = self._labelled = ~np.isnan(labels)
        self._labels = labels
        self._clusters = np.unique(clusters, return_inverse=True)[1]
        strata = np.unique(strata, return_inverse=True)[1]
        groups = strata[rows]
        sizes, counts = np.bincount(strata), np.bincount(groups, minlength=int(strata.max()) + 1)
        if (counts < 2).any():
            raise ValueError("each stratum needs at least two labels")
        self._weights = np.where(rows, (sizes / counts)[strata], 0.0)
        truths = labels[rows] - _means(labels[rows], groups)[groups]
        spread = predictions[rows] - _means(predictions[rows], groups)[groups]
        importance = self._weights[rows] ** 2 * (counts / (counts - 1))[groups]
        # As in the paper, the variance of the predictions is that of all answers, labelled or not.
        variances = _means((predictions - _means(predictions, strata)[strata]) ** 2, strata)
        squares = float((sizes / counts) ** 2 * counts @ variances)
        covariance = float(importance @ (truths * spread))
        self.tuning = min(1.0, max(0.0, covariance / squares)) if squares > 0 else 0.0
        residuals = labels[rows] - self.tuning * predictions[rows]
        self._expected = self.tuning * predictions + _means(residuals, groups)[strata]
        self._errors = np.where(rows, labels - self._expected, 0.0)
        self._parameters = len(sizes) + (self.tuning > 0)
        # Residuals are too small where an answer determines λ (HC3; MacKinnon and White, 1985) or one of
        # several means. With one stratum and λ = 0 the variance stays that of a proportion, p(1 - p) / n.
        leverages = np.zeros(len(labels))
        if self.tuning > 0:
            leverages[rows] = importance * spread**2 / squares
        several = len(sizes) > 1
        self._scales = np.sqrt(counts / (counts - several))[strata] / (1 - np.minimum(leverages, 0.5))
        self._groups = (predictions > predictions.mean()).astype(np.int64)
        self._pseudo_error = _PSEUDO_ERROR * (1.0 if several else self.tuning)

    def rate(self, rows: Booleans) -> PoweredEstimate | None:
        """Return the rate of good answers among some rows, with Wilson's interval for its effective size.

        Its variance is at most that of the labels alone. The quantile is Student's, with the number of
        labelled questions less one as degrees of freedom.

        Returns:
            None for fewer than two labels among the rows.
        """
        influence = self._influence(rows)
        if influence is None:
            return None
        value = min(1.0, max(0.0, influence.value))
        labels_alone = value * (1 - value) / influence.effective
        variance = self._covariance(influence, influence, rows) + influence.unseen
        variance = min(variance * self._inflation(rows), labels_alone)
        trials = max(1.0, value * (1 - value) / variance) if variance > _ROUNDING else influence.effective
        interval = wilson_interval(value * trials, trials, degrees=self._degrees(rows, 1))
        return PoweredEstimate(value=value, interval=interval, labels=int((self._labelled & rows).sum()))

    def difference(self, rows: Booleans, others: Booleans) -> PoweredEstimate | None:
        """Return the rate of some rows less that of other rows; answers to one question are paired.

        The interval combines those of the two rates (Zou and Donner, 2008), given their correlation.

        Returns:
            None for fewer than two labels on a side.
        """
        first, second = self.rate(rows), self.rate(others)
        influence, other_influence = self._influence(rows), self._influence(others)
        if first is None or second is None or influence is None or other_influence is None:
            return None
        either = rows | others
        spread = math.sqrt(
            self._covariance(influence, influence, either)
            * self._covariance(other_influence, other_influence, either)
        )
        correlation = self._covariance(influence, other_influence, either) / spread if spread > 0 else 0.0

        def distance(side: float, other_side: float) -> float:
            return math.sqrt(max(0.0, side**2 + other_side**2 - 2 * correlation * side * other_side))

        value = first.value - second.value
        (low, high), (other_low, other_high) = first.interval, second.interval
        return PoweredEstimate(
            value=value,
            interval=(
                value - distance(first.value - low, other_high - second.value),
                value + distance(high - first.value, second.value - other_low),
            ),
            labels=first.labels + second.labels,
        )

    def _influence(self, rows: Booleans) -> _Influence | None:
        labelled = self._labelled & rows
        if int(labelled.sum()) < 2:
            return None
        weights = np.where(labelled, self._weights, 0.0)
        weights /= weights.sum()
        shift = float(weights @ self._errors)
        value = float(self._expected[rows].mean()) + shift
        errors = weights * (self._errors - shift) * self._scales
        groups = self._groups[labelled]
        largest = np.zeros(int(groups.max()) + 1)
        np.maximum.at(largest, groups, weights[labelled] ** 2)
        missing = self._pseudo_error * largest - np.bincount(groups, weights=errors[labelled] ** 2)
        return _Influence(
            value=value,
            deviations=np.where(rows, (self._expected + shift - value) / rows.sum(), 0.0) + errors,
            unseen=float(np.maximum(0.0, missing).sum()),
            effective=self._effective(weights),
        )

    def _effective(self, weights: Floats) -> float:
        """Return the number of independent labels that weighted, clustered labels are worth.

        As in `stats.clustered`: their design effect is at least 1, and where all labels are equal each
        question counts once.
        """
        rows = weights > 0
        clusters = np.unique(self._clusters[rows], return_inverse=True)[1]
        equal_labels = 1 / float((np.bincount(clusters, weights=weights[rows]) ** 2).sum())
        count = int(clusters.max()) + 1
        if count == len(clusters):
            return equal_labels
        good = float(weights[rows] @ self._labels[rows])
        sums = np.bincount(clusters, weights=weights[rows] * (self._labels[rows] - good))
        variance = float((sums**2).sum()) * count / max(1, count - 1)
        independent = 1 / float((weights**2).sum())
        return (
            min(independent, max(1.0, good * (1 - good) / variance)) if variance > _ROUNDING else equal_labels
        )

    def _inflation(self, rows: Booleans) -> float:
        """Return the square of Student's quantile relative to that without estimated coefficients."""
        share = 0.5 + LEVEL / 2
        with_coefficients = student_quantile(share, self._degrees(rows, self._parameters))
        return (with_coefficients / student_quantile(share, self._degrees(rows, 1))) ** 2

    def _degrees(self, rows: Booleans, parameters: int) -> int:
        """Return the degrees of freedom that the labelled questions leave for the variance, at least 1."""
        return max(1, len(np.unique(self._clusters[self._labelled & rows])) - parameters)

    def _covariance(self, influence: _Influence, other: _Influence, rows: Booleans) -> float:
        """Return the covariance of two sums of influences, independent between questions."""
        sums = np.bincount(self._clusters, weights=influence.deviations)
        other_sums = np.bincount(self._clusters, weights=other.deviations)
        clusters = len(np.unique(self._clusters[rows]))
        return float(sums @ other_sums) * clusters / max(1, clusters - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Influence:
    """Estimate of one rate.

    Attributes:
        deviations: of each answer; their sum over a question is its influence on the value.
        unseen: variance of errors that labels have not shown.
        effective: number of independent labels that those of the rows are worth.
    """

    value: float
    deviations: Floats
    unseen: float
    effective: float


def _means(values: Floats, groups: Integers) -> Floats:
    return np.bincount(groups, weights=values) / np.bincount(groups)
