"""Games as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.record.arena import Battle
from pytest_evalstudio.stats.types import Floats, Integers

_DENSE = 4
"""Cells of a table of all prompts per game up to which it is quicker than the list of games."""


@dataclass(frozen=True, slots=True)
class GameTable:
    """Games by number: models, prompts and points.

    Attributes:
        models: names, sorted.
        first: shape (games,), number of the model that was shown first.
        second: shape (games,), number of the other one.
        points: shape (games,), points of the first: 1, 0.5 or 0.
        prompts: shape (games,), number of the prompt.
    """

    models: tuple[str, ...]
    first: Integers
    second: Integers
    points: Floats
    prompts: Integers

    @classmethod
    def of(cls, battles: Sequence[Battle]) -> GameTable:
        """Number the models and prompts of games."""
        models = tuple(sorted({name for battle in battles for name in battle.models}))
        numbers = {name: number for number, name in enumerate(models)}
        prompts = {key: number for number, key in enumerate(dict.fromkeys(b.prompt_key for b in battles))}
        return cls(
            models,
            np.array([numbers[battle.model_a] for battle in battles], dtype=np.int64),
            np.array([numbers[battle.model_b] for battle in battles], dtype=np.int64),
            np.array([battle.points for battle in battles], dtype=np.float64),
            np.array([prompts[battle.prompt_key] for battle in battles], dtype=np.int64),
        )

    def wins(self) -> Floats:
        """Return shape (models, models): wins of the row over the column, ties by half."""
        number = len(self.models)
        table = np.zeros((number, number))
        np.add.at(table, (self.first, self.second), self.points)
        np.add.at(table, (self.second, self.first), 1 - self.points)
        return table

    def prompt_wins(self) -> Floats:
        """Return `wins` as if each pair had one game per prompt, since games on one prompt are alike."""
        wins, number = self.wins(), len(self.models)
        pairs = np.minimum(self.first, self.second) * number + np.maximum(self.first, self.second)
        distinct = np.unique(self.prompts * number**2 + pairs) % number**2
        prompts = np.bincount(distinct, minlength=number**2).reshape(number, number)
        # Pairs are counted above the diagonal only; `prompts.T` has the other half.
        return wins * (prompts + prompts.T) / np.maximum(wins + wins.T, 1.0)

    def prompt_points(self, model: int, other: int) -> Floats:
        """Return, for each prompt that two models played on, the wins less the losses of the first one."""
        forth = (self.first == model) & (self.second == other)
        back = (self.first == other) & (self.second == model)
        played = forth | back
        points = np.where(forth, 2 * self.points - 1, 1 - 2 * self.points)[played]
        numbers = np.unique(self.prompts[played], return_inverse=True)[1]
        return np.bincount(numbers, points).astype(np.float64)

    def resampled_wins(self, rounds: int, seed: int) -> Floats:
        """Return shape (rounds, models, models): `wins` of samples of the prompts, with replacement."""
        number, prompts = len(self.models), int(self.prompts.max()) + 1
        rng = np.random.default_rng(seed)
        cells = np.concatenate([self.first * number + self.second, self.second * number + self.first])
        points = np.concatenate([self.points, 1 - self.points])
        games = np.concatenate([self.prompts, self.prompts])
        size = number * number
        # Points are multiples of a half, so that their sums are exact in any order.
        by_prompt = (
            np.bincount(games * size + cells, points, minlength=prompts * size).reshape(prompts, size)
            if prompts * size <= _DENSE * len(cells)
            else None
        )
        tables = np.empty((rounds, size))
        for done in range(rounds):
            weights = np.bincount(rng.integers(prompts, size=prompts), minlength=prompts)
            if by_prompt is None:
                tables[done] = np.bincount(cells, weights=points * weights[games], minlength=size)
            else:
                tables[done] = weights.astype(np.float64) @ by_prompt
        return tables.reshape(rounds, number, number)
