"""`evalstudio init`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.core.defaults import BASELINE_FILE

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.starter.questions import Choice

_TARGETS = ("python", "http", "openai", "lab", "agent")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("folder", nargs="?", metavar="DIR", help="default: this folder")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--python", metavar="MODULE:FUNCTION", help="a Python function answers")
    kinds.add_argument(
        "--http", metavar="URL", help="an HTTP service answers; it is asked once, for the form of its reply"
    )
    kinds.add_argument("--openai", metavar="MODEL", help="a model behind chat completions answers")
    kinds.add_argument("--lab", metavar="FILE", help="score the answers of a lab or data set")
    kinds.add_argument("--agent", metavar="MODULE:FUNCTION", help="an agent in Python answers")
    parser.add_argument(
        "--ci", choices=("github", "gitlab", "jenkins"), help="write a job that compares with a baseline, too"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.cli.schema_files import FOLDER, write_schemas
    from pytest_evalstudio.cli.starter.applications import APPLICATIONS, built_in
    from pytest_evalstudio.cli.starter.ci import ci_file
    from pytest_evalstudio.cli.starter.files import write_files

    choice = _choice(arguments)
    folder = Path(arguments.folder or ".")
    make = APPLICATIONS.get(choice.kind)
    starter = built_in(folder) if make is None else make(folder, choice.target)
    files = list(starter.files)
    if choice.system:
        files.append(ci_file(choice.system, folder, secret=starter.secret))
    for path in write_files(folder, files):
        say(f"wrote {path}")
    write_schemas(folder / FOLDER)
    for note in starter.notes:
        say(f"note: {note}")
    if choice.system:
        say(f"note: the job needs requirements.txt and {BASELINE_FILE}: put both under version control")
    test = f"python -m pytest {shlex.quote(starter.tests)}"
    start = "" if folder == Path(".") else f"cd {shlex.quote(str(folder))} && "
    say(
        "next:",
        f"  {start}{test}",
        "  evalstudio baseline save",
        f"  {test} --evalstudio-baseline {BASELINE_FILE}",
    )
    return FINE


def _choice(arguments: argparse.Namespace) -> Choice:
    """Return what the options choose; without any of them a user at a terminal is asked."""
    from pytest_evalstudio.cli.starter.questions import Choice, ask_choice

    kind = next((name for name in _TARGETS if getattr(arguments, name) is not None), "")
    if kind or arguments.folder or arguments.ci or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Choice(kind=kind, target=getattr(arguments, kind) if kind else "", system=arguments.ci or "")
    return ask_choice(input, say)
