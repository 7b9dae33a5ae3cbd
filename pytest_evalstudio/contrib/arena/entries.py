"""Games in a run's record."""

from __future__ import annotations

from pytest_evalstudio.contrib.arena.games import drawn
from pytest_evalstudio.contrib.arena.rating import RatingOptions, rate
from pytest_evalstudio.contrib.arena.results import Ratings
from pytest_evalstudio.record.arena import Battle
from pytest_evalstudio.record.schema import Run


def battles_of(run: Run) -> list[Battle]:
    """Return all games of a run, shuffled by their seed: sequential Elo depends on the order."""
    battles = [battle for pair in run.arena.values() for battle in pair.battles]
    return sorted(battles, key=_place)


def _place(battle: Battle) -> tuple[int, str]:
    return drawn(battle.seed or 0, battle.prompt_key, *sorted(battle.models)), battle.model_a


def ratings_of(run: Run) -> Ratings | None:
    """Return the ratings of a run's arena, None where no game has a verdict."""
    battles = battles_of(run)
    if not battles:
        return None
    first = next(iter(run.arena.values()))
    return rate(battles, RatingOptions(rounds=first.rounds, seed=first.seed))
