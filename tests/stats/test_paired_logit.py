"""Effects on games against statsmodels, and their error rate where there is none."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from pytest_evalstudio.stats.paired_logit import adjusted_effect


def random_games(seed: int, advantage: float, games: int = 400, players: int = 4, prompts: int = 40):
    rng = np.random.default_rng(seed)
    strengths = np.linspace(-0.5, 0.5, players)
    first = rng.integers(players, size=games)
    second = (first + 1 + rng.integers(players - 1, size=games)) % players
    odds = strengths[first] - strengths[second] + advantage
    wins = (rng.random(games) < 1 / (1 + np.exp(-odds))).astype(float)
    return first, second, wins, np.ones(games), rng.integers(prompts, size=games), players


def test_the_effect_and_its_interval_are_as_statsmodels_has_them() -> None:
    first, second, wins, ones, prompts, players = random_games(1, 0.6)
    design = np.zeros((len(wins), players))
    for number in range(1, players):
        design[:, number] = (first == number).astype(float) - (second == number)
    design[:, 0] = ones
    fitted = sm.Logit(wins, design).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": prompts, "use_correction": False}
    )
    groups = len(set(prompts))
    effect = adjusted_effect(first, second, wins, ones, prompts, players)
    assert effect is not None
    assert effect.log_odds == pytest.approx(fitted.params[0], abs=1e-4)
    spread = (effect.high - effect.low) / 2 / 1.959964
    assert spread == pytest.approx(fitted.bse[0] * np.sqrt(groups / (groups - 1)), rel=1e-3)
    assert effect.p < 0.001


def test_without_an_effect_few_are_flagged() -> None:
    p_values = [adjusted_effect(*random_games(seed, 0.0)).p for seed in range(200)]
    assert sum(p <= 0.05 for p in p_values) <= 20  # 5 % of 200 and two standard deviations


def test_few_prompts_say_nothing() -> None:
    assert adjusted_effect(*random_games(1, 0.5, prompts=9)) is None


def test_fixed_sides_cannot_be_told_from_strength() -> None:
    prompts = np.arange(40)
    zeros, ones = np.zeros(40, dtype=int), np.ones(40, dtype=int)
    wins = np.array([1.0, 0.0] * 20)
    assert adjusted_effect(zeros, ones, wins, np.ones(40), prompts, 2) is None


def test_exchanged_sides_with_equal_verdicts_show_no_effect() -> None:
    first, second, wins, ones, prompts, players = random_games(3, 0.0)
    effect = adjusted_effect(
        np.concatenate([first, second]),
        np.concatenate([second, first]),
        np.concatenate([wins, 1 - wins]),
        np.concatenate([ones, ones]),
        np.concatenate([prompts, prompts]),
        players,
    )
    assert effect is not None
    assert (effect.log_odds, effect.low, effect.high, effect.p) == (0.0, 0.0, 0.0, 1.0)


def test_an_effect_without_any_spread_between_prompts_is_not_told_apart() -> None:
    first = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 20)
    wins = np.tile([1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0], 20)
    prompts = np.repeat(np.arange(20), 8)
    assert adjusted_effect(first, 1 - first, wins, np.ones(160), prompts, 2) is None
