"""Replacement of a model by its new version, decided by the games between both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from pytest_evalstudio.contrib.arena.results import Ratings

EARLIER = " (baseline)"
"""End of the label of a model whose answers come from the baseline."""
TOLERANCE = 0.05
"""A win rate that is surely above 0.5 less this is not worse."""

ReplacementVerdict = Literal["worse", "inconclusive", "not worse", "better"]


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """A model against its earlier version.

    Attributes:
        model: its label.
        games: games between both.
        win_rate: of the new version, ties by half.
        low: lower bound of the 95 % interval.
        high: upper bound.
        verdict: "better" where the interval lies above 0.5, "worse" where it lies below, "not worse" where
            its lower end is above 0.45, else "inconclusive".
    """

    model: str
    games: int
    win_rate: float
    low: float
    high: float
    verdict: ReplacementVerdict


def replacements(ratings: Ratings) -> Iterator[Replacement]:
    """Yield each model that played against its earlier version."""
    for pair in ratings.pairs:
        names = (pair.model_a, pair.model_b)
        model = next((name for name in names if f"{name}{EARLIER}" in names), None)
        if model is None or pair.win_rate_a is None or pair.low is None or pair.high is None:
            continue
        rate, low, high = pair.win_rate_a, pair.low, pair.high
        if model == pair.model_b:
            rate, low, high = 1 - rate, 1 - high, 1 - low
        yield Replacement(
            model=model,
            games=pair.games,
            win_rate=round(rate, 4),
            low=round(low, 4),
            high=round(high, 4),
            verdict=_verdict(low, high),
        )


def _verdict(low: float, high: float) -> ReplacementVerdict:
    if low > 0.5:
        return "better"
    if high < 0.5:
        return "worse"
    return "not worse" if low > 0.5 - TOLERANCE else "inconclusive"
