"""Elo ratings against an independent implementation and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.stats.elo import EloScale, bootstrap_elo, sequential_elo

WIN, TIE, LOSS = 1.0, 0.5, 0.0
TEN_GAMES = [
    (0, 1, WIN),
    (0, 2, WIN),
    (1, 2, TIE),
    (2, 0, WIN),
    (1, 0, LOSS),
    (2, 1, WIN),
    (0, 1, TIE),
    (0, 2, LOSS),
    (1, 2, WIN),
    (2, 0, TIE),
]
FIRST, SECOND, POINTS = zip(*TEN_GAMES, strict=True)


def by_odds(games, players: int) -> list[float]:
    """The same rating from the odds 10^(rating / 400) of both players."""
    ratings = dict.fromkeys(range(players), 1000.0)
    for first, second, points in games:
        odds, opposing = 10 ** (ratings[first] / 400), 10 ** (ratings[second] / 400)
        ratings[first] += 32 * (points - odds / (odds + opposing))
        ratings[second] += 32 * ((1 - points) - opposing / (odds + opposing))
    return list(ratings.values())


def test_three_games_by_hand() -> None:
    # 1: 1016 : 984. 2: 1016 is expected to get 1 / (1 + 10^(-16/400)) = 0.52301 against 1000, and gains
    # 32 x 0.47699 = 15.264. 3: 984 is expected to get 0.49894 against 984.736, and gains 0.034 by a tie.
    ratings = sequential_elo(FIRST[:3], SECOND[:3], POINTS[:3], 3, EloScale())
    assert [round(rating, 2) for rating in ratings] == [1031.26, 984.03, 984.70]


def test_ten_games_are_as_another_implementation_has_them() -> None:
    assert sequential_elo(FIRST, SECOND, POINTS, 3, EloScale()) == pytest.approx(by_odds(TEN_GAMES, 3))


def test_points_are_neither_made_nor_lost() -> None:
    assert sum(sequential_elo(FIRST, SECOND, POINTS, 3, EloScale())) == pytest.approx(3000)


def test_the_constants_matter() -> None:
    scale = EloScale(k=10, scale=200, base=2, initial=0)
    assert sequential_elo([0, 0], [1, 1], [WIN, WIN], 2, scale) == pytest.approx(
        [5 + 10 * (1 - 1 / (1 + 2 ** (-10 / 200))), -5 - 10 * (1 - 1 / (1 + 2 ** (-10 / 200)))]
    )


def test_each_round_of_the_bootstrap_is_the_sequential_rating_of_its_draw() -> None:
    first, second, points = np.array(FIRST), np.array(SECOND), np.array(POINTS)
    ratings = bootstrap_elo(first, second, points, 3, EloScale(), rounds=50, seed=7)
    draws = np.random.default_rng(7).integers(10, size=(10, 50))
    for number in range(50):
        games = [TEN_GAMES[place] for place in draws[:, number]]
        assert ratings[number] == pytest.approx(by_odds(games, 3))


def test_many_games_are_drawn_in_blocks() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(3, size=1300)
    second = (first + 1 + rng.integers(2, size=1300)) % 3
    points = np.ones(1300)
    ratings = bootstrap_elo(first, second, points, 3, EloScale(), rounds=3, seed=1)
    assert ratings.shape == (3, 3)
    assert ratings.sum(axis=1) == pytest.approx([3000] * 3)


def test_the_seed_decides() -> None:
    games = np.array(FIRST), np.array(SECOND), np.array(POINTS)
    runs = [bootstrap_elo(*games, 3, EloScale(), rounds=5, seed=seed).tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
