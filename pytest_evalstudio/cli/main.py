"""`evalstudio`: the same engine from the shell. Exits 0 (fine), 1 (findings) or 2 (usage)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from pytest_evalstudio.cli import (
    arena,
    baseline,
    calibrate,
    compare,
    convert,
    evaluators,
    freeze,
    generate,
    generators,
    guard,
    history,
    hosts,
    importing,
    init,
    judge_check,
    judge_tune,
    library,
    merge,
    mrm,
    mutate,
    perturb,
    perturbators,
    plan,
    redteam,
    report,
    resolve,
    review,
    schema,
    score,
    sections,
    select,
    steps,
    validate,
    weakness,
)
from pytest_evalstudio.cli.common import FINE, USAGE, say
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import EvalStudioError

COMMANDS = (
    *(evaluators, hosts, perturbators, generators, steps, sections),
    *(validate, init, generate, redteam, library, perturb, importing, convert, freeze, resolve, score),
    *(judge_check, judge_tune, calibrate, weakness, mutate, mrm, review, guard),
    *(baseline, compare, plan, select, history, merge, arena),
    *(report, schema),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors are printed on standard error, without a traceback."""
    arguments = parser_of_commands().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except EvalStudioError as exc:
        say(f"evalstudio: {exc}", error=True)
        return USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return FINE
    except OSError as exc:
        say(f"evalstudio: {exc.filename or 'output'}: {exc.strerror or exc}", error=True)
        return USAGE
    except KeyboardInterrupt:
        say("evalstudio: interrupted", error=True)
        return 130


class Parser(argparse.ArgumentParser):
    """A parser whose errors show control characters of arguments as escapes."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def parser_of_commands() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = Parser(
        prog="evalstudio",
        description="LLM and RAG evaluation from the shell; `pytest` runs the same suites as tests.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(command=command)
        return added

    for command in COMMANDS:
        command.add_to(add)
    return parser
