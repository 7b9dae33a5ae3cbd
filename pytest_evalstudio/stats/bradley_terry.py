"""Strengths of players by the model of Bradley and Terry."""

from __future__ import annotations

import numpy as np

from pytest_evalstudio.stats.types import Booleans, Floats

PRIOR_TIES = 0.5
"""Ties that are added to each pair that has played, where the games alone determine no strengths."""
_MOST_STEPS = 100
_LONGEST_STEP = 2.0
_TOLERANCE = 1e-9


def bradley_terry(wins: Floats) -> Floats:
    """Return the maximum-likelihood strengths of players, for one table of wins or for many.

    The probability that i beats j is 1 / (1 + exp(strength_j − strength_i)); a tie counts as half a win for
    both. The order of the games does not matter. The maximum exists where every player is linked to every
    other by a chain of wins or ties (Ford, 1957). Where it does not exist, half a tie is added for each pair
    that has played, which bounds the strengths.

    Own code: neither scipy nor statsmodels is installed with the core.

    Args:
        wins: shape (..., players, players); [i, j] is the number of wins of i over j, ties counted by half.

    Returns:
        Shape (..., players); natural logarithms with mean 0 per table.

    Source: Bradley and Terry, 1952 (Biometrika 39, 324–345).

    >>> strengths = bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]]))
    >>> float(np.round(strengths[0] - strengths[1], 6)) == float(np.round(np.log(3), 6))
    True
    """
    tables = np.array(wins, dtype=np.float64)
    players = tables.shape[-1]
    flat = tables.reshape(-1, players, players)
    flat[:, range(players), range(players)] = 0.0
    unbounded = ~is_determined(flat)
    played = (flat + flat.swapaxes(1, 2)) > 0
    flat[unbounded] += np.where(played[unbounded], PRIOR_TIES / 2, 0.0)
    return _maximized(flat).reshape(*tables.shape[:-2], players)


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
    for _ in range(_MOST_STEPS):
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
