"""Elo ratings of games between pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.stats.types import Floats, Integers

_STEPS_AT_ONCE = 512  # bounds the memory of the drawn games


@dataclass(frozen=True, slots=True, kw_only=True)
class EloScale:
    """Constants of the Elo rating.

    Attributes:
        k: largest change of a rating in one game.
        scale: difference of ratings at which the odds are `base` to 1.
        base: of the odds.
        initial: rating before the first game.
    """

    k: float = 32.0
    scale: float = 400.0
    base: float = 10.0
    initial: float = 1000.0


def sequential_elo(
    first: Sequence[int], second: Sequence[int], points: Sequence[float], players: int, scale: EloScale
) -> list[float]:
    """Return the ratings after games that are played one after another.

    The expected points of the first player are 1 / (1 + base^((second − first) / scale)); each game moves
    both ratings by k times the difference between points and expectation. The result depends on the order.

    Args:
        first: number of the first player of each game, from 0.
        second: number of the second player of each game.
        points: of the first player: 1 for a win, 0.5 for a tie, 0 for a loss.
        players: number of players.
        scale: constants of the rating.

    Returns:
        One rating per player.

    Source: Elo, 1978, The Rating of Chessplayers; constants of Chatbot Arena (Zheng et al., 2023).

    >>> [round(rating, 2) for rating in sequential_elo([0, 0], [1, 1], [1.0, 0.5], 2, EloScale())]
    [1014.53, 985.47]
    """
    ratings = [scale.initial] * players
    for player, opponent, gained in zip(first, second, points, strict=True):
        expected = 1 / (1 + scale.base ** ((ratings[opponent] - ratings[player]) / scale.scale))
        change = scale.k * (gained - expected)
        ratings[player] += change
        ratings[opponent] -= change
    return ratings


def bootstrap_elo(
    first: Integers,
    second: Integers,
    points: Floats,
    players: int,
    scale: EloScale,
    *,
    rounds: int,
    seed: int,
) -> Floats:
    """Return the sequential ratings of samples of the games.

    Each round draws as many games as there are, with replacement, and rates them in the order of the draw.
    All rounds advance together, one game at a time. Memory does not depend on the number of games.

    Args:
        first: shape (games,), number of the first player, from 0.
        second: shape (games,), number of the second player.
        points: shape (games,), points of the first player: 1, 0.5 or 0.
        players: number of players.
        scale: constants of the rating.
        rounds: number of samples.
        seed: of the draws; the same seed gives the same ratings.

    Returns:
        Shape (rounds, players); a player that is not drawn has the initial rating.

    Source: Chiang et al., 2024, Chatbot Arena (bootstrap of the order and the choice of games).

    >>> games = np.array([0, 0]), np.array([1, 1]), np.array([1.0, 1.0])
    >>> bootstrap_elo(*games, 2, EloScale(), rounds=1, seed=0).round(2).tolist()
    [[1030.53, 969.47]]
    """
    rng = np.random.default_rng(seed)
    ratings = np.full(rounds * players, scale.initial)
    offsets = np.arange(rounds) * players
    exponent = np.log(scale.base) / scale.scale
    games = len(points)
    for start in range(0, games, _STEPS_AT_ONCE):
        steps = min(_STEPS_AT_ONCE, games - start)
        drawn = rng.integers(games, size=(steps, rounds))
        firsts, seconds, gained = first[drawn] + offsets, second[drawn] + offsets, points[drawn]
        for step in range(steps):
            player, opponent = firsts[step], seconds[step]
            rating, opposing = ratings[player], ratings[opponent]
            change = scale.k * (gained[step] - 1 / (1 + np.exp(exponent * (opposing - rating))))
            ratings[player] = rating + change
            ratings[opponent] = opposing - change
    return ratings.reshape(rounds, players)
