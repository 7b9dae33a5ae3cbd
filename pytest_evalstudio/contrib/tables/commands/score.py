"""`evalstudio score`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, listed, progress_display, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option
from pytest_evalstudio.contrib.tables.options import ScoreOptions
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.tables.job import Finished
    from pytest_evalstudio.contrib.tables.request import ScoreRequest
    from pytest_evalstudio.core.progress import ProgressDisplay


ANSWERS_SCORED = "answers scored"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="Parquet, JSON Lines or CSV file, a folder of them, or a URL that fsspec opens",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT.parquet", help="folder of the scored table, or a URL"
    )
    parser.add_argument(
        "-e",
        "--evaluators",
        metavar="ID[,ID...]",
        help="evaluators (default: those of the configuration)",
    )
    parser.add_argument(
        "--map",
        default="",
        metavar="FIELD=COLUMN[,...]",
        help=(
            "columns of the fields key, model, input, actual_output, expected_output, context,"
            " output_condition and error; a column with the name of its field needs none"
        ),
    )
    parser.add_argument(
        "--keep",
        default="",
        metavar="COLUMN[,...]",
        help="columns by whose values the scores are also aggregated; NAME=COLUMN renames one",
    )
    parser.add_argument("--config", metavar="FILE", help="configuration (default: the nearest)")
    for option in fields(ScoreOptions):
        flag = f"--{option.name.replace('_', '-')}"
        parser.add_argument(flag, **{"default": option.default, **option.metadata})
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    request = _request(arguments)
    try:
        with progress_display("scoring") as progress:
            finished = _scored(request, progress)
    except KeyboardInterrupt:
        say(
            f"{request.output}: scored batches are kept; the same command with --resume continues", error=True
        )
        raise
    _print_result(finished, request.output)
    return FINE


def _scored(request: ScoreRequest, progress: ProgressDisplay) -> Finished:
    """Score a request; what earlier runs scored does not count for the rate."""
    from pytest_evalstudio.contrib.tables.job import run_request

    earlier = 0

    def begin(done: int, total: int | None) -> None:
        nonlocal earlier
        earlier = done
        progress(done, total, ANSWERS_SCORED, earlier=done)

    def report(done: int, total: int | None) -> None:
        progress(done, total, ANSWERS_SCORED, earlier=earlier)

    return run_request(request, report, begin=begin)


def _request(arguments: argparse.Namespace) -> ScoreRequest:
    from pytest_evalstudio.cli.common import configuration_for
    from pytest_evalstudio.contrib.tables.request import ScoreRequest

    config = configuration_for(arguments.sources[0], arguments.config)
    if arguments.evaluators is not None:
        config = config.model_copy(update={"evaluators": list(listed(arguments.evaluators))})
    options = {option.name: getattr(arguments, option.name) for option in fields(ScoreOptions)}
    return ScoreRequest(
        sources=tuple(arguments.sources),
        output=arguments.output,
        config=config,
        mapping=pairs(arguments.map, "--map"),
        keep=pairs(arguments.keep, "--keep", alone=True),
        plugin_modules=tuple(arguments.plugin_modules),
        **{**options, "by": tuple(listed(arguments.by)), "cache": Path(arguments.cache)},
    )


def pairs(option: str, name: str, *, alone: bool = False) -> dict[str, str]:
    """Return the pairs of `NAME=VALUE,...`.

    Args:
        option: the text.
        name: of the option, for messages.
        alone: whether `NAME` means `NAME=NAME`.

    Raises:
        ConfigurationError: for a part without an equals sign, or a name that occurs twice.
    """
    result: dict[str, str] = {}
    for part in listed(option):
        key, equals, value = (text.strip() for text in part.partition("="))
        if alone and not equals:
            value = key
        if not key or not value:
            raise ConfigurationError(f"{name} {part}: write NAME=COLUMN, several separated by commas")
        if key in result:
            raise ConfigurationError(f"{name} {part}: {key} occurs twice; name it once")
        result[key] = value
    return result


def _print_result(finished: Finished, output: str) -> None:
    from pytest_evalstudio.contrib.tables.figures.leaderboards import leaderboard_lines
    from pytest_evalstudio.scoring.model_provider import left_out

    manifest = finished.table.manifest
    if finished.left_out:
        say(f"evalstudio: {left_out(finished.left_out, finished.broad_choice)}", error=True)
    say(*leaderboard_lines(manifest))
    speed = finished.scored_now / finished.seconds if finished.seconds else 0.0
    say(
        f"wrote {output}: {manifest.answers:,} answers, {manifest.rows:,} scores;"
        f" {finished.scored_now:,} answers scored in {figure(finished.seconds)} s, {speed:,.0f} per second",
        f"next: evalstudio report {output} -o report",
    )
