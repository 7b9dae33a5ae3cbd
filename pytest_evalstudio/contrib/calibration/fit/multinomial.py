"""Multinomial logistic regression: a probability for each of several levels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.scoring.calibration.file import Softmax
from pytest_evalstudio.stats.types import Floats, Integers


def multinomial(
    standard: Floats,
    labels: Integers,
    good_from: int,
    *,
    means: Floats,
    scales: Floats,
    logs: Sequence[bool],
    ridge: float,
) -> Softmax:
    """Fit a multinomial logistic regression; the order of the levels is not used.

    It minimises the negative log likelihood + Σ weight² / (2 · ridge). The intercepts sum to 0, and by the
    penalty the weights of each metric, too.

    Args:
        standard: answers × metrics, standardised with `means`, `scales` and `logs`.
        labels: three levels or more.
        good_from: the lowest level that counts as good.
        ridge: inverse strength of the penalty, which keeps the weights finite where a score divides levels
            without fault.

    Source: Sudjianto et al., 2024 (HCAT), section 5.1; McCullagh and Nelder, 1989, section 5.2.
    """
    model = import_extra("sklearn.linear_model", "calibrating").LogisticRegression(
        C=ridge, tol=1e-10, max_iter=10_000
    )
    with warnings.catch_warnings():
        # Near the minimum the last digits may keep the search from its tolerance.
        warnings.simplefilter("ignore", import_extra("sklearn.exceptions", "calibrating").ConvergenceWarning)
        model.fit(standard, labels)
    intercepts = model.intercept_ - np.mean(model.intercept_)
    return Softmax(
        levels=[int(level) for level in model.classes_],
        good_from=good_from,
        intercepts=intercepts.tolist(),
        weights=model.coef_.tolist(),
        means=means.tolist(),
        scales=scales.tolist(),
        logs=list(logs),
    )
