"""`evalstudio`: the same engine from the shell. Exits 0 (fine), 1 (findings) or 2 (usage)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from pytest_evalstudio.cli.commands import commands, grouped_commands
from pytest_evalstudio.cli.common import FINE, USAGE, error_lines, say
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.errors import EvalStudioError, unknown_name


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors are printed on standard error, without a traceback."""
    try:
        argv = sys.argv[1:] if argv is None else argv
        if not argv:
            parser_of_commands(argv).print_help()
            return USAGE
        arguments = parser_of_commands(argv).parse_args(argv)
        command: Callable[[argparse.Namespace], int] = arguments.command
        return command(arguments)
    except EvalStudioError as exc:
        say(*error_lines(f"evalstudio: {exc}"), error=True)
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


class MainParser(Parser):
    """The parser of `evalstudio`, whose help lists the commands in groups."""

    def format_help(self) -> str:
        lines = [f"usage: {self.prog} COMMAND …", "", self.description or ""]
        groups = grouped_commands()
        width = max(len(name) for commands_of_group in groups.values() for name in commands_of_group)
        for title, commands_of_group in groups.items():
            lines += ["", f"{title}:"]
            lines += [f"  {name:<{width}} {command.summary}" for name, command in commands_of_group.items()]
        return "\n".join([*lines, "", "`evalstudio COMMAND --help` describes a command.", ""])


def parser_of_commands(argv: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Args:
        argv: arguments; only the modules of the commands that they name are imported. None for all commands.

    Raises:
        ConfigurationError: if the command is unknown, or an installed package brings one that cannot be
            used.
    """
    parser = MainParser(
        prog="evalstudio",
        description="LLM and RAG evaluation from the shell; `pytest` runs the same suites as tests.",
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    by_name = commands()
    if argv and not argv[0].startswith("-") and argv[0] not in by_name:
        raise unknown_name("command", argv[0], by_name, "`evalstudio --help` lists all.")
    for name, command in by_name.items():
        added = parsers.add_parser(name, help=command.text, description=command.text)
        # Each command imports much; only the named one needs its arguments.
        if argv is None or name in argv:
            command.load()(added)
    return parser
