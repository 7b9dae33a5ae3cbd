"""`evalstudio`: the same engine from the shell. Exits 0 (fine), 1 (findings) or 2 (usage)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from pytest_evalstudio.cli.commands import commands
from pytest_evalstudio.cli.common import FINE, USAGE, say
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import EvalStudioError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors are printed on standard error, without a traceback."""
    try:
        argv = sys.argv[1:] if argv is None else argv
        arguments = parser_of_commands(argv).parse_args(argv)
        command: Callable[[argparse.Namespace], int] = arguments.command
        return command(arguments)
    except EvalStudioError as exc:
        say(f"evalstudio: {exc}", error=True)
        return USAGE
    except BrokenPipeError:
        # The reader, e.g. `head`, needs no more; Python would complain on stderr when it flushes at the exit.
        sys.stderr.close()
        return FINE
    except OSError as exc:
        say(f"evalstudio: {exc.filename or 'output'}: {exc.strerror or exc}", error=True)
        return USAGE
    except KeyboardInterrupt:
        say("evalstudio: interrupted", error=True)
        return 130  # 128 and the number of SIGINT, as shells report it


class Parser(argparse.ArgumentParser):
    """A parser whose errors show control characters of arguments as escapes."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def parser_of_commands(argv: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Args:
        argv: arguments; only the modules of the commands that they name are imported. None for all commands.

    Raises:
        ConfigurationError: if an installed package brings a command that cannot be used.
    """
    parser = Parser(
        prog="evalstudio",
        description="LLM and RAG evaluation from the shell; `pytest` runs the same suites as tests.",
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in commands().items():
        added = parsers.add_parser(name, help=command.text, description=command.text)
        # Each command imports much; only the named one needs its arguments.
        if argv is None or name in argv:
            command.load()(added)
    return parser
