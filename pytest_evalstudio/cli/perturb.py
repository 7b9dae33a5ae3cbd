"""`evalstudio perturb`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import (
    FINDINGS,
    FINE,
    configuration_for,
    local,
    read_whole,
    say,
    say_missing_files,
)
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.core.judging import Judge


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("suite", metavar="SUITE", help="suite or lab, path or URL")
    parser.add_argument(
        "-p",
        "--perturb",
        action="append",
        required=True,
        metavar="SPEC",
        help=(
            "e.g. comma:medium,word_swap:low+qwerty: ',' separates cases, '+' chains perturbators into one"
            " case; repeatable"
        ),
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="a different seed gives different cases (default: the configuration's)",
    )
    parser.add_argument(
        "--where",
        metavar="EXPR",
        help="which cases, by their categories, as pytest's -m: 'fees and not internal'",
    )
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of a judge's stored replies (default: .evalstudio)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.asking.answers import AnswerCache
    from pytest_evalstudio.asking.judging import Judges
    from pytest_evalstudio.formats.suite import TestSuite
    from pytest_evalstudio.scoring.perturbing.cases import perturb

    content = read_whole(local(arguments.suite), arguments.suite)
    config = configuration_for(arguments.suite, arguments.config)
    registry = registry_for(arguments)
    with contextlib.ExitStack() as opened:

        def judge() -> Judge:
            judges = Judges(registry, cache=opened.enter_context(AnswerCache(Path(arguments.cache))))
            opened.callback(judges.close)
            return judges.open(config)

        perturbed = perturb(
            content,
            ",".join(arguments.perturb),
            seed=config.perturbations.seed if arguments.seed is None else arguments.seed,
            where=config.perturbations.where if arguments.where is None else arguments.where,
            options=config.perturbator,
            folder=config.folder,
            registry=registry,
            judge=judge,
        )
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    perturbed.content.save(arguments.output)
    say(f"wrote {arguments.output}: {counted(perturbed.added, 'perturbed case')} added")
    if not isinstance(content, TestSuite) and perturbed.added:
        say(
            f"their answers are still to be asked for: evalstudio resolve {arguments.output} -o"
            f" {arguments.output}"
        )
    say_missing_files(perturbed.content, arguments.output)
    for note in perturbed.notes:
        say(note, error=True)
    return FINE if perturbed.added else FINDINGS
