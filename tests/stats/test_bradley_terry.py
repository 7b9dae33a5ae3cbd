"""Bradley-Terry strengths against scikit-learn, and where no maximum exists."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pytest_evalstudio.stats.bradley_terry import bradley_terry, is_determined, strength_covariance

WINS = np.array([[0, 7, 9.5], [3, 0, 6], [1.5, 4, 0]])


def by_regression(wins):
    """The same strengths by a logistic regression without a penalty; each win is a weighted row."""
    players = len(wins)
    rows, weights = [], []
    for winner in range(players):
        for loser in range(players):
            if wins[winner, loser]:
                row = np.zeros(players)
                row[winner], row[loser] = 1, -1
                rows.append(row)
                weights.append(wins[winner, loser])
    design = np.array(rows + [-row for row in rows])
    model = LogisticRegression(penalty=None, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(design, [1] * len(rows) + [0] * len(rows), sample_weight=weights * 2)
    return model.coef_[0] - model.coef_[0].mean()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_strengths_are_as_scikit_learn_has_them() -> None:
    assert bradley_terry(WINS, prior=0.0) == pytest.approx(by_regression(WINS), abs=1e-4)


def test_many_tables_are_as_each_alone() -> None:
    tables = np.random.default_rng(1).poisson(4, (20, 5, 5)).astype(float)
    assert bradley_terry(tables) == pytest.approx(np.array([bradley_terry(table) for table in tables]))


def test_the_expected_wins_are_the_observed_ones() -> None:
    strengths = bradley_terry(WINS, prior=0.0)
    games = WINS + WINS.T
    expected = games / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    assert expected.sum(axis=1) == pytest.approx(WINS.sum(axis=1))


def test_a_model_that_only_wins_has_a_finite_strength() -> None:
    wins = np.array([[0.0, 5.0, 5.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    assert not is_determined(wins[None])[0]
    strengths = bradley_terry(wins)
    assert np.isfinite(strengths).all()
    assert strengths[0] > strengths[1] > strengths[2]


def test_models_without_a_common_opponent_have_finite_strengths() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = 2.0
    wins[3, 2] = 1.0
    assert np.isfinite(bradley_terry(wins)).all()


def test_the_diagonal_does_not_count() -> None:
    assert bradley_terry(WINS + 5 * np.eye(3)) == pytest.approx(bradley_terry(WINS))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_prior_is_half_a_win_and_half_a_loss_for_each_pair_that_played() -> None:
    wins = np.array([[0.0, 30.0, 0.0], [0.0, 0.0, 3.0], [0.0, 1.0, 0.0]])
    games = np.array([[0.0, 30.5, 0.0], [0.5, 0.0, 3.5], [0.0, 1.5, 0.0]])
    assert bradley_terry(wins) == pytest.approx(by_regression(games), abs=1e-3)


def test_two_players_have_firths_estimate_and_its_standard_error() -> None:
    strengths = bradley_terry(np.array([[0.0, 30.0], [0.0, 0.0]]))
    assert strengths[0] - strengths[1] == pytest.approx(np.log(30.5 / 0.5))
    covariance = strength_covariance(np.array([[0.0, 30.5], [0.5, 0.0]]), strengths)
    difference = np.array([1.0, -1.0])
    assert difference @ covariance @ difference == pytest.approx(1 / 30.5 + 1 / 0.5)


def test_the_covariance_is_that_of_simulated_strengths() -> None:
    rng = np.random.default_rng(3)
    truth = np.array([0.6, 0.0, -0.6])
    probabilities = 1 / (1 + np.exp(truth[None, :] - truth[:, None]))
    tables = np.zeros((4_000, 3, 3))
    for first, second in ((0, 1), (0, 2), (1, 2)):
        tables[:, first, second] = rng.binomial(200, probabilities[first, second], 4_000)
        tables[:, second, first] = 200 - tables[:, first, second]
    expected = np.cov(bradley_terry(tables).T)
    covariance = strength_covariance(200 * probabilities * (1 - np.eye(3)), truth)
    assert covariance == pytest.approx(expected, abs=0.06 * np.abs(expected).max())
