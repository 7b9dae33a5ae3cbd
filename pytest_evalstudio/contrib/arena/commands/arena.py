"""`evalstudio arena`."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import (
    FINDINGS,
    FINE,
    configuration_for,
    local,
    print_json,
    progress_display,
    say,
)
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.asking.runs import AskingRun
    from pytest_evalstudio.contrib.arena.play import ArenaOptions
    from pytest_evalstudio.contrib.arena.results import Ratings
    from pytest_evalstudio.contrib.arena.store import BattleStore
    from pytest_evalstudio.core.cases import Case
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.formats.files import EvalFile


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=rate_battles)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    text = "Let a judge compare the answers of every pair of models to every prompt."
    command = actions.add_parser("play", help=text, description=text)
    command.set_defaults(command=play_games)
    _add_play_options(command)
    text = "Vote on a local page, blind, which of two answers is better."
    command = actions.add_parser("vote", help=text, description=text)
    command.set_defaults(command=vote_on_games)
    _add_vote_options(command)
    text = "Rate the models of games: Elo, Bradley-Terry, win rates, biases of the judge."
    command = actions.add_parser("rate", help=text, description=text)
    command.set_defaults(command=rate_battles)
    _add_rate_options(command)


def _add_play_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="LAB|SUITE", help="answers, or questions to ask first")
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="BATTLES",
        help="CSV of the games; an existing file is continued",
    )
    command.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="NAME",
        help="configured model that judges, in place of [judge]; several form a panel",
    )
    command.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="only games of this model; repeatable"
    )
    command.add_argument("--seed", type=int, default=0, help="of order and sides (default: %(default)s)")
    command.add_argument(
        "--both-orders", action="store_true", help="judge each game twice, with the sides exchanged"
    )
    command.add_argument(
        "--prompt",
        choices=("default", "document"),
        default="default",
        help="document: the published procedure, in which the higher score wins, without ties",
    )
    command.add_argument("--estimate", action="store_true", help="print games, calls and tokens; ask nothing")
    command.add_argument(
        "--refresh",
        action="store_true",
        help="ask the models again; games whose answers have changed are played again",
    )
    command.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    command.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored answers and replies (default: %(default)s)",
    )
    add_plugin_option(command)


def _add_vote_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="LAB", help="answers of models")
    command.add_argument(
        "-o", "--output", required=True, metavar="BATTLES", help="CSV of the games, which gets the votes"
    )
    command.add_argument("--rater", required=True, metavar="NAME", help="name that the votes are kept under")
    command.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="only games of this model; repeatable"
    )
    command.add_argument("--limit", type=int, metavar="N", help="greatest number of games (default: all)")
    command.add_argument("--seed", type=int, default=0, help="of order and sides (default: %(default)s)")
    command.add_argument(
        "--port", type=int, default=0, metavar="N", help="of the page (default: any that is free)"
    )
    command.add_argument("--no-browser", action="store_true", help="open no browser, only print the address")


def _add_rate_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("battles", metavar="BATTLES", help="CSV of games, as `arena play` writes it")
    for name, default, text in (
        ("k", 32.0, "largest change of an Elo rating in one game"),
        ("scale", 400.0, "difference of ratings at which the odds are BASE to 1"),
        ("base", 10.0, "base of the odds"),
        ("init", 1000.0, "rating before the first game"),
    ):
        command.add_argument(f"--{name}", type=float, default=default, help=f"{text} (default: %(default)g)")
    command.add_argument("--rounds", type=int, default=1000, help="bootstrap samples (default: %(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of the samples (default: %(default)s)")
    command.add_argument("--json", action="store_true", help="print the ratings as JSON")
    command.add_argument(
        "-o", "--output", metavar="DIR", help="write arena.json, arena.md and pictures there"
    )


def play_games(arguments: argparse.Namespace) -> int:
    """Play the games that have no verdict yet; 1 where games remain without one."""
    from pytest_evalstudio.contrib.arena.play import ArenaOptions, estimate
    from pytest_evalstudio.contrib.arena.store import BattleStore

    config = configuration_for(arguments.source, arguments.config)
    options = ArenaOptions(
        judges=tuple(arguments.judge),
        models=tuple(arguments.model),
        seed=arguments.seed,
        both_orders=arguments.both_orders,
        prompt=arguments.prompt,
    )
    registry = registry_for(arguments)
    path = Path(arguments.output)
    store = BattleStore(path)
    if arguments.estimate:
        effort = estimate(
            _answers(arguments), store.battles(), config=config, options=options, registry=registry
        )
        say(
            f"{effort.games} games, {effort.unplayed} of them without a verdict in {path}",
            f"at most {effort.calls} calls, about {effort.input_tokens} input tokens and"
            f" {effort.output_tokens} output tokens; stored replies are not subtracted",
        )
        return FINE
    path.parent.mkdir(parents=True, exist_ok=True)
    with store.playing():
        return _play(arguments, store, config, options)


def _play(
    arguments: argparse.Namespace, store: BattleStore, config: Configuration, options: ArenaOptions
) -> int:
    from pytest_evalstudio.contrib.arena.play import play

    answers = _answers(arguments)
    with progress_display("asking the judges") as progress:
        played = play(
            answers,
            store.battles(),
            config=config,
            options=options,
            cache=Path(arguments.cache),
            registry=registry_for(arguments),
            progress=functools.partial(progress, what="verdicts"),
        )
    # Votes may have come meanwhile: the file is read again under its lock.
    battles = store.change(played.added_to)
    missing = f", {played.missing} without a verdict" if played.missing else ""
    say(f"wrote {arguments.output}: {len(battles)} games, {len(played.judged.battles)} new{missing}")
    for reason, count in played.judged.faults.items():
        say(f"without a verdict ({count} games): {reason}", error=True)
    return FINDINGS if played.missing else FINE


def vote_on_games(arguments: argparse.Namespace) -> int:
    """Serve the page on which a person votes."""
    from pytest_evalstudio.contrib.arena.answers import answers_of
    from pytest_evalstudio.contrib.arena.games import check_seed
    from pytest_evalstudio.contrib.arena.store import BattleStore
    from pytest_evalstudio.contrib.arena.votes import VoteSession
    from pytest_evalstudio.contrib.calibration.commands.serving import serve_page

    check_seed(arguments.seed)
    path = Path(arguments.source)
    file = _read(path, arguments.source)
    store = BattleStore(Path(arguments.output))
    store.path.parent.mkdir(parents=True, exist_ok=True)
    session = VoteSession(
        answers_of(file, path.absolute().parent),
        store,
        rater=arguments.rater,
        title=str(getattr(file.content, "name", "") or path.name),
        models=arguments.model,
        seed=arguments.seed,
        limit=arguments.limit,
    )
    serve_page(session, arguments.port, with_browser=not arguments.no_browser)
    return FINE


def rate_battles(arguments: argparse.Namespace) -> int:
    """Print the ratings of games."""
    import msgspec

    from pytest_evalstudio.contrib.arena.battle_files import read_battles
    from pytest_evalstudio.contrib.arena.rating import RatingOptions, rate
    from pytest_evalstudio.contrib.arena.text import rating_lines
    from pytest_evalstudio.core.errors import DataError
    from pytest_evalstudio.stats.elo import EloScale

    options = RatingOptions(
        scale=EloScale(k=arguments.k, scale=arguments.scale, base=arguments.base, initial=arguments.init),
        rounds=arguments.rounds,
        seed=arguments.seed,
    )
    battles = read_battles(Path(arguments.battles))
    if not battles:
        raise DataError(f"{arguments.battles}: there are no games in it")
    ratings = rate(battles, options)
    if arguments.json:
        print_json(msgspec.to_builtins(ratings))
    else:
        say(*rating_lines(ratings))
    if arguments.output:
        _write(Path(arguments.output), ratings)
    return FINE


def _write(folder: Path, ratings: Ratings) -> None:
    import msgspec

    from pytest_evalstudio.contrib.arena.pictures import pictures
    from pytest_evalstudio.contrib.arena.text import ratings_markdown
    from pytest_evalstudio.core.writing import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "arena.json", msgspec.json.format(msgspec.json.encode(ratings), indent=2) + b"\n")
    write_whole(folder / "arena.md", ratings_markdown(ratings).encode())
    for name, svg in pictures(ratings).items():
        write_whole(folder / f"{name}.svg", svg.encode())
    say(f"wrote {folder / 'arena.md'}", error=True)


def _answers(arguments: argparse.Namespace) -> list[Case]:
    """Return the answers of a lab, or those that the configured models give to a suite."""
    from pytest_evalstudio.asking.downloads import base_of
    from pytest_evalstudio.contrib.arena.answers import answers_of, asked_answers
    from pytest_evalstudio.formats.suite import TestSuite

    path = local(arguments.source)
    file = _read(path, arguments.source)
    if not isinstance(file.content, TestSuite):
        return answers_of(file, path.absolute().parent)
    run = _tournament(Path(arguments.output), refreshes=arguments.refresh, is_estimate=arguments.estimate)
    with progress_display("asking the models"):
        answers = asked_answers(
            file.content,
            configuration_for(arguments.source, arguments.config),
            documents=base_of(path),
            cache=Path(arguments.cache),
            registry=registry_for(arguments),
            judges=arguments.judge,
            run=run,
            is_estimate=arguments.estimate,
        )
    if answers.missing:
        say(
            f"{answers.missing} of {len(answers.cases)} answers are not stored; the models are asked for them"
            " first"
        )
    elif answers.stored:
        say(
            f"{answers.stored} of {len(answers.cases)} answers are those of the games in {arguments.output};"
            " --refresh asks again"
        )
    return answers.cases


def _tournament(games: Path, *, refreshes: bool, is_estimate: bool) -> AskingRun:
    """Return the run whose answers play: the games of one file have the same answers of a model."""
    from pytest_evalstudio.asking.runs import MAX_AGE_S, RunInputs, UnfinishedRun

    # However old the answers are: the games of the file were played with them.
    max_age_s = math.inf if games.exists() else MAX_AGE_S
    mark = UnfinishedRun(games.with_name(f".{games.name}.answers.json"), max_age_s=max_age_s)
    inputs = RunInputs(configuration="arena")
    if is_estimate:
        return mark.planned(inputs, refreshes=refreshes)
    return mark.begin(inputs, refreshes=refreshes)


def _read(path: Path, name: str) -> EvalFile:
    from pytest_evalstudio.core.errors import DataError
    from pytest_evalstudio.formats.files import read
    from pytest_evalstudio.formats.kinds import read_source

    file = read(read_source(path, name))
    if file.errors:
        raise DataError("\n".join(map(str, file.errors)))
    return file
