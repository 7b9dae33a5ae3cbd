"""Intervals that resample questions: their coverage, and weighted figures against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from pytest_evalstudio.stats.calibration import area_under_roc_interval, error_rates
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.resampling import (
    cluster_interval,
    mean_interval_of_clusters,
    share_interval,
    weighted_area_under_roc,
    weighted_kappa,
    weighted_quadratic_kappa,
)


def all_ones(count: int) -> np.ndarray:
    return np.ones(count, dtype=bool)


def answers(rng: np.random.Generator, questions: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    """Wrong verdicts on answers to the same questions, which are alike: 30 % on average."""
    rates = np.repeat(rng.beta(0.6, 1.4, questions), each)
    return rng.random(questions * each) < rates, np.repeat(np.arange(questions), each)


def test_the_interval_covers_where_answers_share_questions_and_wilsons_does_not() -> None:
    rng = np.random.default_rng(0)
    covered, by_wilson = [], []
    for _ in range(150):
        wrong, clusters = answers(rng, 40, 5)
        result = share_interval(wrong, all_ones(200), clusters)
        assert result is not None
        low, high = result[1]
        covered.append(low <= 0.3 <= high)
        low, high = wilson_interval(int(wrong.sum()), 200)
        by_wilson.append(low <= 0.3 <= high)
    assert np.mean(covered) >= 0.9
    assert np.mean(by_wilson) < 0.85


@pytest.mark.parametrize("hit", [False, True])
def test_a_share_of_none_or_all_has_the_interval_of_the_questions(hit: bool) -> None:
    hits = np.full(12, hit)
    result = share_interval(hits, all_ones(12), np.repeat(np.arange(4), 3))
    assert result == (float(hit), wilson_interval(4 * hit, 4))


def test_a_share_of_nothing_has_no_interval() -> None:
    assert share_interval(all_ones(3), ~all_ones(3), np.arange(3)) is None


@pytest.mark.parametrize("ties", [False, True])
def test_weighted_figures_are_those_of_scikit_learn(ties: bool) -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(50).round(1 if ties else 8)
    good = rng.random(50) < scores
    weights = rng.integers(0, 4, (20, 50)).astype(float)
    expected = [roc_auc_score(good, scores, sample_weight=row) for row in weights]
    assert weighted_area_under_roc(scores, good, weights) == pytest.approx(expected)
    passes = scores >= 0.5
    expected = [cohen_kappa_score(good, passes, sample_weight=row) for row in weights]
    assert weighted_kappa(good, passes, weights) == pytest.approx(expected)


def test_weighted_quadratic_kappa_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(6)
    first = rng.integers(1, 6, 40)
    second = np.clip(first + rng.integers(-1, 3, 40), 1, 5)
    weights = rng.integers(0, 4, (20, 40)).astype(float)
    expected = [cohen_kappa_score(first, second, weights="quadratic", sample_weight=row) for row in weights]
    kappas = weighted_quadratic_kappa(first.astype(float), second.astype(float), weights)
    assert kappas == pytest.approx(expected)
    constant = np.full(40, 3.0)
    assert np.isnan(weighted_quadratic_kappa(constant, constant, weights)).all()


@pytest.mark.slow
def test_the_interval_of_an_area_is_that_of_draws_one_by_one() -> None:
    rng = np.random.default_rng(2)
    scores, clusters = rng.random(60), np.repeat(np.arange(20), 3)
    good = rng.random(60) < scores
    interval = area_under_roc_interval(scores, good, clusters)
    areas = []
    for _ in range(2000):
        rows = np.concatenate([np.flatnonzero(clusters == at) for at in rng.integers(0, 20, 20)])
        areas.append(roc_auc_score(good[rows], scores[rows]))
    assert interval == pytest.approx(tuple(np.percentile(areas, [2.5, 97.5])), abs=0.02)


def test_folds_make_the_interval_of_an_area_wider() -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(100)
    good = rng.random(100) < scores
    plain = area_under_roc_interval(scores, good, np.arange(100))
    folded = area_under_roc_interval(scores, good, np.arange(100), folds=np.arange(100) % 5)
    assert plain is not None
    assert folded is not None
    assert folded[1] - folded[0] > 1.2 * (plain[1] - plain[0])


def test_answers_of_one_question_have_no_interval() -> None:
    values, clusters = np.array([0.1, 0.9]), np.zeros(2, dtype=int)
    assert cluster_interval(lambda weights: weights @ values, clusters) is None
    assert mean_interval_of_clusters(values, clusters) is None


def test_error_rates_have_wider_intervals_where_answers_share_questions() -> None:
    rng = np.random.default_rng(4)
    wrong, clusters = answers(rng, 30, 6)
    good = np.repeat(np.arange(30) % 2 == 0, 6)
    independent_rates, cluster_rates = (
        error_rates(good ^ wrong, good),
        error_rates(good ^ wrong, good, clusters),
    )
    assert independent_rates.type_1 == cluster_rates.type_1
    for name in ("type_1_interval", "type_2_interval", "kappa_interval"):
        narrow, wide = getattr(independent_rates, name), getattr(cluster_rates, name)
        assert wide[1] - wide[0] > 1.15 * (narrow[1] - narrow[0])
