"""Effects on the outcome of games, adjusted for the strengths of the players."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pytest_evalstudio.stats.types import LEVEL, Floats, Integers

MIN_CLUSTERS = 10
"""With fewer clusters the robust standard error is not reliable."""
_RIDGE = 1e-6  # a model that wins all games has no finite estimate without it
_NO_SPREAD = 1e-6
_MAX_STEPS = 60
_LONGEST_STEP = 2.0  # Newton's steps overshoot where wins are far from balanced


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Effect of a property on the odds that the first player wins.

    Attributes:
        log_odds: change of the log odds per unit of the property; 0 for no effect.
        low: lower bound of the 95 % interval.
        high: upper bound of the 95 % interval.
        p: two-sided, of no effect.
    """

    log_odds: float
    low: float
    high: float
    p: float


def adjusted_effect(
    first: Integers,
    second: Integers,
    first_won: Floats,
    values: Floats,
    clusters: Integers,
    players: int,
) -> Effect | None:
    """Return the effect of a property on who wins, adjusted for the strengths of the players.

    Logistic regression of the first player's win on the difference of strengths and the property; the
    standard error is robust against dependence within clusters.

    Own code: statsmodels is not installed with the core.

    Args:
        first: shape (games,), number of the first player, from 0.
        second: shape (games,), number of the second player.
        first_won: shape (games,), 1 if the first player won, 0 if the second did; ties are left out before.
        values: shape (games,), the property; all 1 for the advantage of the first place.
        clusters: shape (games,), the group of each game, e.g. the number of its prompt.
        players: number of players.

    Returns:
        The effect; None for fewer than `MIN_CLUSTERS` clusters, or where the property cannot be told apart
        from the strengths.

    Source: Agresti, 2013, Categorical Data Analysis, section 11.6 (order effects); Liang and Zeger, 1986
    (Biometrika 73, 13–22; robust errors).

    >>> places = np.arange(20) % 2
    >>> won = np.array([1.0] * 12 + [0.0] * 8)
    >>> effect = adjusted_effect(places, 1 - places, won, np.ones(20), np.arange(20), 2)
    >>> round(effect.log_odds, 3), round(effect.p, 2)
    (0.405, 0.39)
    """
    _, groups = np.unique(clusters, return_inverse=True)
    number = int(groups.max(initial=-1)) + 1
    if number < MIN_CLUSTERS:
        return None
    design = _design(first, second, values, players)
    if np.linalg.matrix_rank(design) == np.linalg.matrix_rank(design[:, :players]):
        return None
    weights, expected = _fitted(design, first_won)
    information = _information(design, expected)
    scores = np.zeros((number, players + 1))
    np.add.at(scores, groups, design * (first_won - expected)[:, None])
    inverse = np.linalg.inv(information)
    covariance = inverse @ (scores.T @ scores) @ inverse * (number / (number - 1))
    spread = math.sqrt(max(float(covariance[players, players]), 0.0))
    effect = float(weights[players])
    if spread < _NO_SPREAD:  # each cluster has the game with its sides exchanged, and the same winner
        return Effect(log_odds=0.0, low=0.0, high=0.0, p=1.0) if abs(effect) < _NO_SPREAD else None
    reach = NormalDist().inv_cdf(0.5 + LEVEL / 2) * spread
    return Effect(
        log_odds=effect,
        low=effect - reach,
        high=effect + reach,
        p=math.erfc(abs(effect) / spread / math.sqrt(2)),
    )


def _design(first: Integers, second: Integers, values: Floats, players: int) -> Floats:
    """Return the design matrix: 1 and −1 for the players of a game, and the property in the last column."""
    games = np.arange(len(values))
    design = np.zeros((len(values), players + 1))
    np.add.at(design, (games, first), 1.0)
    np.add.at(design, (games, second), -1.0)
    design[:, players] = values
    return design


def _fitted(design: Floats, won: Floats) -> tuple[Floats, Floats]:
    """Return the weights with the highest likelihood, and the expected wins."""
    weights = np.zeros(design.shape[1])
    expected = np.full(len(won), 0.5)
    for _ in range(_MAX_STEPS):
        gradient = design.T @ (won - expected) - _RIDGE * weights
        step = np.linalg.solve(_information(design, expected), gradient)
        longest = float(np.abs(step).max())
        weights = weights + step * min(1.0, _LONGEST_STEP / max(longest, _LONGEST_STEP))
        expected = 1 / (1 + np.exp(-design @ weights))
        if longest < 1e-9:
            break
    return weights, expected


def _information(design: Floats, expected: Floats) -> Floats:
    information: Floats = design.T @ (design * (expected * (1 - expected))[:, None])
    return information + _RIDGE * np.eye(design.shape[1])
