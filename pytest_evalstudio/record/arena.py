"""Types of an arena in a run's record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Winner = Literal["model_a", "model_b", "tie"]


class Battle(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One game: two answers to one prompt, compared blind.

    Attributes:
        prompt_key: key of the prompt.
        model_a: the model whose answer was shown first.
        model_b: the model whose answer was shown second.
        winner: "model_a", "model_b" or "tie".
        score_a: the judge's score of the first answer, 1 to 10; None where there is none.
        score_b: the same of the second answer.
        reason: of the verdict; masked, as the categories are.
        judge: name of the judge; "" for a person's vote.
        seed: of the order of games and sides; None where it is not known.
        rater: name of the person who voted; "" for a judge's verdict.
        chars_a: length of the first answer in characters; None where it is not known.
        chars_b: the same of the second answer.
        texts_id: digest of the prompt and both answers, by which a changed answer is noticed.
        categories: of the prompt.
        others: further columns of the file.
    """

    prompt_key: str
    model_a: str
    model_b: str
    winner: Winner
    score_a: float | None = None
    score_b: float | None = None
    reason: str = ""
    judge: str = ""
    seed: int | None = None
    rater: str = ""
    chars_a: int | None = None
    chars_b: int | None = None
    texts_id: str = ""
    categories: tuple[str, ...] = ()
    others: Mapping[str, str] = {}

    @property
    def identity(self) -> tuple[str, str, str, str, str, str]:
        """Return what tells the game apart: prompt, sides, judge or rater, and texts."""
        return self.prompt_key, self.model_a, self.model_b, self.judge, self.rater, self.texts_id

    @property
    def points(self) -> float:
        """Return the points of the first model: 1 for a win, 0.5 for a tie, 0 for a loss."""
        return {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}[self.winner]

    @property
    def models(self) -> frozenset[str]:
        """Return both models, whatever their sides."""
        return frozenset((self.model_a, self.model_b))

    @property
    def preferred(self) -> str:
        """Return the name of the winner, "" for a tie."""
        return {"model_a": self.model_a, "model_b": self.model_b, "tie": ""}[self.winner]


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
    battles: tuple[Battle, ...]
    missing: int = 0
    reason: str = ""
    seed: int = 0
    rounds: int = 1000
    verdict: str = ""
