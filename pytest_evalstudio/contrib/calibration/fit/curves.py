"""Curves from scores to the probability that people call an answer good."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.multinomial import multinomial
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.scoring.calibration.curve import probability
from pytest_evalstudio.scoring.calibration.file import Curve, Line, Logistic, Method, Steps
from pytest_evalstudio.stats.curves import centred_isotonic, platt_targets, step_table
from pytest_evalstudio.stats.types import Booleans, Floats, Integers

RIDGE = 1.0
"""Inverse strength (scikit-learn's C) of the penalty that keeps several metrics from cancelling each other.
"""


_SMALLEST = 1e-12
"""Smallest probability of a level in a likelihood."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted trees over several metrics; they can be measured, not saved."""

    model: Any

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of a good answer for each row of scores."""
        with _one_thread():
            return np.asarray(self.model.predict_proba(scores)[:, 1], dtype=np.float64)


Fitted = Curve | Trees


def fit(
    method: Method, scores: Floats, labels: Integers, *, good_from: int, metrics: Sequence[Metric], seed: int
) -> Fitted:
    """Fit a curve.

    Args:
        method: name of the method.
        scores: answers × metrics, finite.
        labels: what people said of each answer, higher for better.
        good_from: the lowest label that counts as good; some labels must be lower, and some not.
        metrics: whose scores these are: direction and range count.
        seed: of boosting.

    Raises:
        ConfigurationError: if the method does not take that many metrics, or its package is not installed.
    """
    good = labels >= good_from
    better = [metric.better for metric in metrics]
    logs = [metric.range[0] >= 0 and metric.range[1] == np.inf for metric in metrics]
    if method == "isotonic":
        return _isotonic(scores, good, better)
    if method == "boosting":
        return _boosting(scores, good, better, seed)
    if method == "ordinal" and len(np.unique(labels)) > 2:
        ordinal = _ordinal if scores.shape[1] == 1 else partial(_constrained_ordinal, better=better)
        return ordinal(scores, labels, good_from, logs)
    if method == "multinomial" and len(np.unique(labels)) > 2:
        standard, means, scales = _standardised(scores, logs)
        return multinomial(standard, labels, good_from, means=means, scales=scales, logs=logs, ridge=RIDGE)
    if scores.shape[1] > 1:
        return _constrained_logistic(scores, good, logs, better)
    return _logistic(scores, good, logs)


def probabilities(fitted: Fitted, scores: Floats) -> Floats:
    """Return the probability that people call each answer good."""
    if isinstance(fitted, Trees):
        return fitted.probabilities(scores)
    return np.array([probability(fitted, row) for row in scores.tolist()], dtype=np.float64)


def _logistic(scores: Floats, good: Booleans, logs: Sequence[bool]) -> Logistic:
    """Fit a logistic regression of one metric with Platt's targets.

    Source: Platt, 1999, Probabilistic outputs for support vector machines, section 2.2.
    """
    # Without a penalty (C), as Platt's scaling has none.
    model = import_extra("sklearn.linear_model", "calibrating").LogisticRegression(
        C=np.inf, tol=1e-10, max_iter=10_000
    )
    standard, means, scales = _standardised(scores, logs)
    targets = platt_targets(good)
    # scikit-learn takes no targets between 0 and 1: each answer counts as good and as bad, weighted by its
    # target.
    twice = np.concatenate([standard, standard])
    with warnings.catch_warnings():
        # The loss has one minimum; near it the last digits may keep the search from the tolerance that is
        # asked for.
        warnings.simplefilter("ignore", import_extra("sklearn.exceptions", "calibrating").ConvergenceWarning)
        model.fit(twice, np.repeat([1, 0], len(good)), sample_weight=np.concatenate([targets, 1 - targets]))
    weights = model.coef_[0].tolist()
    return Logistic(
        intercept=float(model.intercept_[0]),
        weights=weights,
        means=means.tolist(),
        scales=scales.tolist(),
        logs=list(logs),
    )


def _constrained_logistic(
    scores: Floats, good: Booleans, logs: Sequence[bool], better: Sequence[str]
) -> Logistic:
    """Fit a logistic regression of several metrics whose weights follow the metrics' directions.

    With Platt's targets, it minimises the log loss + Σ weight² / (2 · RIDGE) over standardised scores.

    Source: Byrd, Lu, Nocedal and Zhu, 1995 (SIAM Journal on Scientific Computing 16, 1190–1208), by scipy.
    """
    minimize = import_extra("scipy.optimize", "calibrating").minimize
    standard, means, scales = _standardised(scores, logs)
    targets = platt_targets(good)
    features = np.hstack([np.ones((len(good), 1)), standard])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        values = features @ parameters
        weights = np.concatenate([[0.0], parameters[1:]])
        # The sigmoid by tanh does not overflow.
        likely = 0.5 * (1 + np.tanh(values / 2))
        total = np.logaddexp(0, values).sum() - targets @ values + weights @ weights / (2 * RIDGE)
        return float(total), features.T @ (likely - targets) + weights / RIDGE

    bounds = [(None, None), *((0, None) if side == "higher" else (None, 0) for side in better)]
    result = minimize(
        loss,
        np.zeros(features.shape[1]),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-9},
    )
    # Adding 0.0 turns -0.0 into 0.0.
    intercept, *weights = (float(value) + 0.0 for value in result.x)
    return Logistic(
        intercept=intercept,
        weights=weights,
        means=means.tolist(),
        scales=scales.tolist(),
        logs=list(logs),
    )


def _ordinal(scores: Floats, labels: Integers, good_from: int, logs: Sequence[bool]) -> Logistic:
    """Proportional odds: one slope for all levels, P(label ≥ k) = sigmoid(slope − cut k).

    Source: McCullagh, 1980, Regression models for ordinal data.
    """
    ordered = import_extra("statsmodels.miscmodels.ordinal_model", "ordinal calibration").OrderedModel
    standard, means, scales = _standardised(scores, logs)
    levels, codes = np.unique(labels, return_inverse=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fit = ordered(codes, standard, distr="logit").fit(method="bfgs", maxiter=500, disp=0)
        # Without the first and the last one, which are infinite.
        cuts = fit.model.transform_threshold_params(fit.params)[1:-1]
    if not np.isfinite(fit.params).all() or not np.isfinite(cuts).all():
        raise ConfigurationError(
            "ordinal regression has no finite weights, since the scores separate the levels"
            " perfectly; use --method logistic"
        )
    weights = fit.params[: scores.shape[1]].tolist()
    intercepts = {int(level): -float(cut) for level, cut in zip(levels[1:], cuts, strict=True)}
    first_good = next(level for level in intercepts if level >= good_from)
    return Logistic(
        intercept=intercepts[first_good],
        weights=weights,
        means=means.tolist(),
        scales=scales.tolist(),
        logs=list(logs),
        cuts=intercepts,
    )


def _constrained_ordinal(
    scores: Floats, labels: Integers, good_from: int, logs: Sequence[bool], *, better: Sequence[str]
) -> Logistic:
    """Fit proportional odds of several metrics whose weights follow the metrics' directions.

    It minimises the negative log likelihood + Σ weight² / (2 · RIDGE) over standardised scores. Cuts are the
    lowest one and the logarithms of the distances between neighbours, so that they stay in order.

    Source: McCullagh, 1980, Regression models for ordinal data.
    """
    minimize = import_extra("scipy.optimize", "ordinal calibration").minimize
    standard, means, scales = _standardised(scores, logs)
    levels, codes = np.unique(labels, return_inverse=True)
    width = standard.shape[1]
    rows = np.arange(len(codes))

    def cuts_of(parameters: Floats) -> Floats:
        return np.cumsum(np.concatenate([parameters[width : width + 1], np.exp(parameters[width + 1 :])]))

    def loss(parameters: Floats) -> float:
        reached = 0.5 * (1 + np.tanh(((standard @ parameters[:width])[:, None] - cuts_of(parameters)) / 2))
        bounded = np.hstack([np.ones((len(codes), 1)), reached, np.zeros((len(codes), 1))])
        likely = bounded[rows, codes] - bounded[rows, codes + 1]
        penalty = parameters[:width] @ parameters[:width] / (2 * RIDGE)
        return float(penalty - np.log(np.maximum(likely, _SMALLEST)).sum())

    bounds = [
        *((0, None) if side == "higher" else (None, 0) for side in better),
        *[(None, None)] * (len(levels) - 1),
    ]
    start = np.concatenate([np.zeros(width + 1), np.zeros(len(levels) - 2)])
    result = minimize(loss, start, bounds=bounds, method="L-BFGS-B", options={"maxiter": 2_000})
    intercepts = {int(level): -float(cut) for level, cut in zip(levels[1:], cuts_of(result.x), strict=True)}
    return Logistic(
        intercept=intercepts[next(level for level in intercepts if level >= good_from)],
        weights=[float(weight) + 0.0 for weight in result.x[:width]],
        means=means.tolist(),
        scales=scales.tolist(),
        logs=list(logs),
        cuts=intercepts,
    )


def _standardised(scores: Floats, logs: Sequence[bool]) -> tuple[Floats, Floats, Floats]:
    """Standardise scores; those without an upper end are log(1 + score), and constant ones become 0."""
    scores = np.where(logs, np.log1p(np.maximum(scores, 0.0)), scores)
    means, scales = scores.mean(axis=0), scores.std(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    return (scores - means) / scales, means, scales


def _isotonic(scores: Floats, good: Booleans, better: Sequence[str]) -> Line:
    """Fit a centred isotonic regression.

    Equal probabilities of different scores would make conformal sets cover more than they should.
    """
    if scores.shape[1] != 1:
        raise ConfigurationError(
            "isotonic regression takes one metric; use --method logistic or boosting for several"
        )
    x, p = centred_isotonic(scores[:, 0], good, increasing=better[0] == "higher")
    return Line(x=x, p=p)


def _boosting(scores: Floats, good: Booleans, better: Sequence[str], seed: int) -> Steps | Trees:
    """Fit monotonic gradient-boosted trees; those of one metric become a table of steps."""
    model = import_extra("sklearn.ensemble", "calibrating").HistGradientBoostingClassifier(
        monotonic_cst=[1 if direction == "higher" else -1 for direction in better],
        max_iter=50,
        max_leaf_nodes=8,
        min_samples_leaf=max(5, len(good) // 20),
        early_stopping=False,
        random_state=seed,
    )
    with _one_thread():
        model.fit(scores, good)
        trees = Trees(model)
        if scores.shape[1] != 1:
            return trees
        x, p = step_table(lambda values: trees.probabilities(values[:, None]), np.unique(scores))
        return Steps(x=x, p=p)


def _one_thread() -> AbstractContextManager[Any]:
    """Some hundred answers are done before several threads have found each other."""
    return cast(
        "AbstractContextManager[Any]",
        import_extra("threadpoolctl", "calibrating").threadpool_limits(limits=1),
    )
