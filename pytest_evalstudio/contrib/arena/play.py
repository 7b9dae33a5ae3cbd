"""Playing of an arena: answers of a lab or suite, games, verdicts of a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.judging import Judges
from pytest_evalstudio.contrib.arena.games import Game, check_seed, games_of, unplayed
from pytest_evalstudio.contrib.arena.judging import (
    SETTINGS,
    ArenaPrompt,
    JudgedGames,
    judge_games,
    judge_name,
    question_of,
)
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.judges.panel import Panel
from pytest_evalstudio.record.arena import Battle

Progress = Callable[[int, int], None]
CHARS_PER_TOKEN = 4
"""Rough average of English text, for estimates."""
REPLY_TOKENS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaOptions:
    """Settings of an arena.

    Attributes:
        judges: names of `[[model]]` tables that judge; () for the judge of the configuration.
        models: only games between these models; () for all.
        seed: of the order of the games and of their sides.
        both_orders: judge each game twice, with the sides exchanged.
        prompt: how the judge is asked.

    Raises:
        ConfigurationError: if the seed is negative.
    """

    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    seed: int = 0
    both_orders: bool = False
    prompt: ArenaPrompt = "default"

    def __post_init__(self) -> None:
        check_seed(self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Result of playing.

    Attributes:
        outdated: games of earlier runs whose answers have changed since.
        missing: number of games without a verdict.
        judged: verdicts and faults of this run.
    """

    outdated: tuple[Battle, ...]
    missing: int
    judged: JudgedGames

    def added_to(self, battles: Sequence[Battle]) -> list[Battle]:
        """Return games without the outdated ones, followed by the new ones."""
        outdated = {battle.identity for battle in self.outdated}
        return [*(battle for battle in battles if battle.identity not in outdated), *self.judged.battles]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEstimate:
    """Upper limit of the requests that playing would make.

    Attributes:
        games: all games of the arena.
        unplayed: games without a valid verdict in the file of battles.
        calls: requests to judges, one for each game and judge; stored replies are not subtracted.
        input_tokens: estimated from the characters of the prompts.
        output_tokens: estimated by a usual length of the replies.
    """

    games: int
    unplayed: int
    calls: int
    input_tokens: int
    output_tokens: int


def play(
    answers: Sequence[Case],
    battles: Sequence[Battle],
    *,
    config: Configuration,
    options: ArenaOptions,
    cache: Path | None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Played:
    """Play the games that have no valid verdict yet.

    Args:
        answers: answered cases.
        battles: games of earlier runs.
        config: `[judge]`: the judges and their budget.
        options: settings.
        cache: folder of stored replies; None for none.
        registry: registry of plugins; by default a new one.
        progress: called with (done, total) after each verdict.

    Raises:
        ConfigurationError: if no judge is configured, or a name is unknown.
        DataError: if there is nothing to compare.
    """
    with _Bench(config, options, cache, registry) as bench:
        games, reused = _games(answers, battles, bench.panel, options)
        bench.panel.progress = progress
        judged = judge_games(games, bench.panel, seed=options.seed, prompt=options.prompt)
    valid = {battle.identity for battle in reused}
    return Played(
        outdated=tuple(battle for battle in battles if battle.identity not in valid),
        missing=len(games) - len(judged.battles),
        judged=judged,
    )


def estimate(
    answers: Sequence[Case],
    battles: Sequence[Battle],
    *,
    config: Configuration,
    options: ArenaOptions,
    registry: Registry | None = None,
) -> RequestEstimate:
    """Estimate the effort of `play`; no judge is asked."""
    with _Bench(config, options, None, registry) as bench:
        everything = games_of(
            answers, seed=options.seed, models=options.models, both_orders=options.both_orders
        )
        games, _ = _games(answers, battles, bench.panel, options)
        chars = sum(len(bench.panel.prompt_text(question_of(game, options.prompt))) for game in games)
        members = bench.panel.members
    return RequestEstimate(
        games=len(everything),
        unplayed=len(games),
        calls=len(games) * members,
        input_tokens=chars * members // CHARS_PER_TOKEN,
        output_tokens=len(games) * members * REPLY_TOKENS,
    )


def _games(
    answers: Sequence[Case], battles: Sequence[Battle], panel: Panel, options: ArenaOptions
) -> tuple[list[Game], list[Battle]]:
    games = games_of(answers, seed=options.seed, models=options.models, both_orders=options.both_orders)
    judge = judge_name(panel.name, options.prompt)
    return unplayed(games, battles, judge, both_orders=options.both_orders)


class _Bench:
    """The judges of an arena, closed at the end of the context."""

    def __init__(
        self, config: Configuration, options: ArenaOptions, cache: Path | None, registry: Registry | None
    ) -> None:
        self._cache = AnswerCache(cache) if cache is not None else None
        self._judges = Judges(registry or Registry(), self._cache)
        try:
            self.panel = self._judges.open(config, _judge_table(config, options.judges), defaults=SETTINGS)
        # `__exit__` is not called where `__init__` raises.
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> _Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        with closing(self._judges):
            if self._cache is not None:
                self._cache.close()


def _judge_table(config: Configuration, names: Sequence[str]) -> dict[str, Any] | None:
    """Return the table of the named judges, None for that of the configuration."""
    configured = [table.name for table in config.model]
    for name in names:
        if name not in configured:
            remedy = f"Configured here: {', '.join(configured)}." if configured else "Add a [[model]] table."
            raise unknown_name("model", name, configured, remedy)
    if len(set(names)) < len(names):
        raise ConfigurationError("--judge: the same judge is named twice; a panel needs different ones")
    if not names:
        return None
    members = [{"model": name} for name in names]
    return {"model": names[0]} if len(members) == 1 else {"panel": members}
