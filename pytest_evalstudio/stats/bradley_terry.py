"""Strengths of players by the model of Bradley and Terry."""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.stats.types import Booleans, Floats

PRIOR_WINS = 0.5
"""Wins and losses of the prior for each pair that has played: log-F(1, 1) on the difference of strengths."""
_MAX_STEPS = 100  # ends a search that does not converge
_LONGEST_STEP = 2.0  # Newton's steps overshoot where wins are far from balanced
_TOLERANCE = 1e-9


def bradley_terry(wins: Floats, *, prior: float = PRIOR_WINS) -> Floats:
    """Return the strengths of players at the maximum of the penalised likelihood, for one table or many.

    The probability that i beats j is 1 / (1 + exp(strength_j − strength_i)); a tie counts as half a win for
    both. The order of the games does not matter. The prior keeps the strengths finite where a player only
    wins; for two players it is that of Jeffreys, by which Firth's correction removes the bias.

    Own code: neither scipy nor statsmodels is installed with the core.

    Args:
        wins: shape (..., players, players); [i, j] is the number of wins of i over j, ties counted by half.
        prior: wins added to both players of each pair that has played. With 0.0 it is the plain likelihood,
            whose maximum exists only where `is_determined` holds.

    Returns:
        Shape (..., players); natural logarithms with mean 0 per table.

    Source: Bradley and Terry, 1952 (Biometrika 39, 324–345); Greenland and Mansournia, 2015 (Statistics in
        Medicine 34, 3133–3143; log-F priors); Firth, 1993 (Biometrika 80, 27–38).

    >>> strengths = bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]]), prior=0.0)
    >>> float(np.round(strengths[0] - strengths[1], 6)) == float(np.round(np.log(3), 6))
    True
    >>> strengths = bradley_terry(np.array([[0.0, 30.0], [0.0, 0.0]]))
    >>> float(np.round(strengths[0] - strengths[1], 6)) == float(np.round(np.log(30.5 / 0.5), 6))
    True
    """
    tables = np.array(wins, dtype=np.float64)
    players = tables.shape[-1]
    flat = tables.reshape(-1, players, players)
    flat[:, range(players), range(players)] = 0.0
    return _maximized(flat + prior * has_played(flat)).reshape(*tables.shape[:-2], players)


def has_played(wins: Floats) -> Booleans:
    """Return, for tables of wins, which pairs have a game.

    Args:
        wins: as in `bradley_terry`.

    >>> has_played(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()[0]
    [False, True, False]
    """
    return np.asarray((wins + wins.swapaxes(-1, -2)) > 0)


def strength_covariance(wins: Floats, strengths: Floats) -> Floats:
    """Return the covariance of strengths from the information of the games; the sum of each row is 0.

    Args:
        wins: shape (players, players); of independent games, with those of the prior.
        strengths: shape (players,); at the maximum of the likelihood of these games.

    >>> wins = np.array([[0.0, 3.0], [3.0, 0.0]])
    >>> covariance = strength_covariance(wins, np.zeros(2))
    >>> difference = np.array([1.0, -1.0])
    >>> float(np.round(difference @ covariance @ difference, 6)) == round(1 / 3 + 1 / 3, 6)
    True
    """
    expected = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    information = (wins + wins.T) * expected * expected.T
    np.fill_diagonal(information, 0.0)
    hessian = np.diag(information.sum(axis=1)) - information
    return np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)


def is_determined(wins: Floats) -> Booleans:
    """Return, for each table, whether its games determine all strengths.

    Args:
        wins: shape (tables, players, players), as in `bradley_terry`.

    >>> is_determined(np.array([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]])).tolist()
    [True, False]
    """
    players = wins.shape[-1]
    reached = (wins > 0) | np.eye(players, dtype=bool)
    for _ in range(max(1, players.bit_length())):
        reached = np.matmul(reached.astype(np.float32), reached.astype(np.float32)) > 0
    return np.asarray(reached.all(axis=(1, 2)))


def _maximized(wins: Floats) -> Floats:
    """Maximize the likelihood by Newton's method, for all tables at once."""
    tables, players, _ = wins.shape
    games = wins + wins.swapaxes(1, 2)
    strengths = np.zeros((tables, players))
    centre = np.full((players, players), 1.0 / players) + 1e-9 * np.eye(players)
    for _ in range(_MAX_STEPS):
        expected = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
        gradient = (wins - games * expected).sum(axis=2)
        curvature = games * expected * expected.swapaxes(1, 2)
        hessian = -curvature
        hessian[:, range(players), range(players)] = curvature.sum(axis=2)
        step = np.linalg.solve(hessian + centre, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        strengths += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
        if float(longest.max(initial=0.0)) < _TOLERANCE:
            break
    return np.asarray(strengths - strengths.mean(axis=1, keepdims=True))
