"""Split conformal prediction: the coverage that it promises, and the sets of an independent
implementation.
"""

from __future__ import annotations

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

from pytest_evalstudio.scoring.calibration.conformal import ConformalSet, prediction_set
from pytest_evalstudio.stats.conformal import (
    conformal_quantile,
    expected_coverage,
    min_labels,
    nonconformity,
    rank_of_quantile,
)

SIMULATIONS = 1_000


def truth(rng: np.random.Generator, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores that are true probabilities, and labels drawn by them."""
    probabilities = rng.beta(0.6, 0.6, size=shape)
    return probabilities, (rng.random(shape) < probabilities).astype(int)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.35])
@pytest.mark.parametrize("labels", [60, 200])
def test_the_coverage_is_what_was_asked_for(alpha: float, labels: int) -> None:
    rng = np.random.default_rng(11)
    quantiles = conformal_quantile(nonconformity(*truth(rng, SIMULATIONS, labels)), alpha)
    covered = nonconformity(*truth(rng, SIMULATIONS, 500)) <= quantiles[:, None]
    exact = rank_of_quantile(labels, alpha) / (labels + 1)
    assert covered.mean() == pytest.approx(exact, abs=0.004)
    if labels == 200:
        assert covered.mean() == pytest.approx(1 - alpha, abs=0.01)


def test_the_coverage_holds_for_a_curve_that_is_wrong() -> None:
    """It needs exchangeable answers, not a true model."""
    rng = np.random.default_rng(12)
    probabilities, labels = truth(rng, SIMULATIONS, 200)
    quantiles = conformal_quantile(nonconformity(1 - probabilities**3, labels), 0.1)
    probabilities, labels = truth(rng, SIMULATIONS, 500)
    assert (nonconformity(1 - probabilities**3, labels) <= quantiles[:, None]).mean() == pytest.approx(
        0.9, abs=0.01
    )


class AsGiven(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its one feature."""

    classes_ = np.array([0, 1])
    is_fitted_ = True

    def fit(self, scores: np.ndarray, labels: np.ndarray) -> AsGiven:
        return self

    def predict_proba(self, scores: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - scores[:, 0], scores[:, 0]])

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return (scores[:, 0] >= 0.5).astype(int)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 0.45])
@pytest.mark.parametrize("seed", range(5))
def test_the_sets_are_those_of_mapie(alpha: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    probabilities, labels = truth(rng, 80)
    new = rng.random(200)
    quantile = float(conformal_quantile(nonconformity(probabilities, labels), alpha))
    mapie = SplitConformalClassifier(
        AsGiven(), confidence_level=1 - alpha, prefit=True, conformity_score="lac"
    )
    mapie.conformalize(probabilities[:, None], labels)
    _, sets = mapie.predict_set(new[:, None])
    reference = [tuple(int(label) for label in (0, 1) if row[label]) for row in sets[:, :, 0]]
    assert [prediction_set(chance, quantile) for chance in new.tolist()] == reference


def test_a_quantile_by_hand() -> None:
    scores = [0.05, 0.1, 0.2, 0.2, 0.3, 0.35, 0.4, 0.6, 0.9]
    assert conformal_quantile(scores, 0.1) == 0.9, "ceil(10 x 0.9) = 9: the greatest of nine"
    assert conformal_quantile(scores, 0.3) == 0.4, "ceil(10 x 0.7) = 7"
    assert conformal_quantile(scores[:8], 0.1) == 1.0, "ceil(9 x 0.9) = 9 of eight: nothing can be excluded"


@pytest.mark.parametrize(("alpha", "count"), [(0.1, 9), (0.05, 19), (0.2, 4), (0.01, 99), (0.3, 3)])
def test_the_fewest_labels_are_those_with_a_quantile(alpha: float, count: int) -> None:
    assert min_labels(alpha) == count
    assert rank_of_quantile(count, alpha) <= count
    assert rank_of_quantile(count - 1, alpha) > count - 1


def test_nonconformity_is_the_distance_from_the_label() -> None:
    assert nonconformity([0.9, 0.9, 0.2], [1, 0, 0]).tolist() == pytest.approx([0.1, 0.9, 0.2])


@pytest.mark.parametrize(
    ("chance", "quantile", "labels", "uncertain"),
    [
        pytest.param(0.9, 0.4, (1,), False, id="good"),
        pytest.param(0.1, 0.4, (0,), False, id="bad"),
        pytest.param(0.5, 0.6, (0, 1), True, id="both, with a quantile above one half"),
        pytest.param(0.5, 0.4, (), True, id="none, with a quantile below one half"),
        pytest.param(0.6, 0.4, (1,), False, id="equality is in the set"),
        pytest.param(0.5, 0.5, (0, 1), True, id="both at one half"),
    ],
)
def test_a_set_has_the_labels_that_are_near_enough(
    chance: float, quantile: float, labels: tuple[int, ...], uncertain: bool
) -> None:
    assert prediction_set(chance, quantile) == labels
    assert ConformalSet(labels=labels, alpha=0.1).is_uncertain is uncertain


def test_the_expected_coverage_is_what_draws_cover() -> None:
    """20 scores of a uniform distribution, whose quantile is the share that it covers; by numbers drawn, not
    by formula.
    """
    shares = conformal_quantile(np.random.default_rng(0).random((20_000, 20)), 0.1)
    mean, interval = expected_coverage(20, 0.1)
    assert mean == pytest.approx(shares.mean(), abs=0.002)
    assert interval == pytest.approx(np.percentile(shares, [2.5, 97.5]), abs=0.006)


def test_quantiles_by_class_cover_good_and_bad_answers_where_one_quantile_does_not() -> None:
    rng = np.random.default_rng(13)

    def random_sample(count: int) -> tuple[np.ndarray, np.ndarray]:
        """Four of five answers are good, and scores say little."""
        probabilities = rng.beta(8, 2, size=(400, count))
        return probabilities, rng.random((400, count)) < probabilities

    probabilities, good = random_sample(200)
    distances = nonconformity(probabilities, good)
    marginal = conformal_quantile(distances, 0.1)
    limits = np.array(
        [
            [float(conformal_quantile(row[labels == kind], 0.1)) for kind in (False, True)]
            for row, labels in zip(distances, good, strict=True)
        ]
    )
    new, truth = random_sample(500)
    distances = nonconformity(new, truth)
    by_class = distances <= np.where(truth, limits[:, 1:], limits[:, :1])
    assert by_class[truth].mean() == pytest.approx(0.9, abs=0.015)
    assert by_class[~truth].mean() == pytest.approx(0.9, abs=0.03)
    assert (distances <= marginal[:, None])[~truth].mean() < 0.7


def test_too_few_scores_have_a_quantile_of_one_in_each_row() -> None:
    assert conformal_quantile([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], 0.1).tolist() == [1.0, 1.0]
    assert conformal_quantile([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], 0.5).tolist() == [0.2, 0.5]
