"""Games as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.contrib.arena import table
from pytest_evalstudio.contrib.arena.table import GameTable


def test_samples_of_prompts_are_the_same_by_a_table_of_prompts_and_by_the_list_of_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(3, size=400)
    games = GameTable(
        models=("a", "b", "c"),
        first=first,
        second=(first + rng.integers(1, 3, size=400)) % 3,
        points=rng.choice([0.0, 0.5, 1.0], size=400),
        prompts=np.arange(400) % 20,
    )
    by_table = games.resampled_wins(50, seed=2)
    monkeypatch.setattr(table, "_DENSE", 0)
    by_list = games.resampled_wins(50, seed=2)

    assert np.array_equal(by_table, by_list)
    assert np.ptp(by_table.sum(axis=(1, 2))) == 0  # each prompt has 20 games
    assert np.ptp(by_table[:, 0, 1]) > 0
    assert by_table[0, 0, 1] + by_table[0, 1, 0] == expected_games(games, seed=2)


def expected_games(games: GameTable, *, seed: int) -> int:
    """Return the games of the first two models in the first sample, counted one by one."""
    sample = np.random.default_rng(seed).integers(20, size=20).tolist()
    pairs = zip(games.first.tolist(), games.second.tolist(), games.prompts.tolist(), strict=True)
    return sum(sample.count(prompt) for first, other, prompt in pairs if {first, other} == {0, 1})
