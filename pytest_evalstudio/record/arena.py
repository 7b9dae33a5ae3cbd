"""Types of an arena in a run's record."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class BattleEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game: two answers to one prompt, compared by a judge; see `contrib.arena.battle_files.Battle`.

    Attributes:
        model_a: label of the model whose answer was shown first.
        model_b: label of the other one.
        score_a: the judge's score of the first answer, 1 to 10; None where there is none.
        score_b: the same of the second answer.
        reason: of the verdict, masked.
        chars_a: length of the first answer in characters.
        chars_b: length of the second answer.
        categories: of the prompt, masked.
    """

    prompt_key: str
    model_a: str
    model_b: str
    winner: Literal["model_a", "model_b", "tie"]
    score_a: float | None = None
    score_b: float | None = None
    reason: str = ""
    judge: str = ""
    chars_a: int | None = None
    chars_b: int | None = None
    texts_id: str = ""
    categories: tuple[str, ...] = ()


class ArenaEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The games of one pair of models.

    Attributes:
        file: path of the suite or lab.
        models: labels of both models.
        battles: the games with a verdict.
        missing: number of games without one.
        reason: why the first of these has none, masked.
        seed: of the order and sides.
        rounds: bootstrap samples of the ratings.
        verdict: of the pytest item.
    """

    file: str
    models: tuple[str, str]
    battles: tuple[BattleEntry, ...]
    missing: int = 0
    reason: str = ""
    seed: int = 0
    rounds: int = 1000
    verdict: str = ""
