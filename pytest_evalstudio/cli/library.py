"""`evalstudio library`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.cli.common import FINDINGS, FINE, print_json, say

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.asking.library import Library

SHOWN_CHARS = 100


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=show)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    command = _action(actions, "list", show, "List suites, test cases, licences and sources.")
    command.add_argument("--json", action="store_true", help="for machines")
    command = _action(actions, "search", search, "Find test cases that have all words.")
    command.add_argument("words", metavar="WORDS")
    _add_suites(command)
    command = _action(actions, "sample", sample, "Draw test cases at random into a suite.")
    command.add_argument("-n", "--count", type=int, default=5, metavar="N", help="(default: %(default)s)")
    _add_suites(command)
    command.add_argument("--seed", type=int, default=0, help="of the draw (default: %(default)s)")
    command.add_argument("-o", "--output", required=True, metavar="SUITE")
    command = _action(actions, "add", add_suite, "Copy a suite into a library; an empty folder becomes one.")
    command.add_argument("suite", metavar="SUITE")
    command.add_argument("--name", default="", help="in the library (default: the suite's own)")
    command.add_argument("--licence", required=True, help="SPDX identifier, or words")
    command.add_argument("--source", required=True, help="URL, or words")


def _action(actions: Any, name: str, command: object, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.set_defaults(command=command)
    parser.add_argument(
        "-l", "--library", default=".", metavar="PLACE", help="folder or URL (default: this folder)"
    )
    parser.add_argument(
        "--cache", default=".evalstudio", metavar="DIR", help="folder of downloads (default: %(default)s)"
    )
    return parser


def _add_suites(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-s",
        "--suite",
        dest="suites",
        action="append",
        default=[],
        metavar="NAME",
        help="only this suite; repeatable",
    )


def show(arguments: argparse.Namespace) -> int:
    """List the suites."""
    library = _opened(arguments)
    if arguments.json:
        print_json([entry.model_dump() for entry in library.entries])
        return FINE
    for entry in library.entries:
        say(f"{entry.name}: {entry.cases} test cases, {entry.licence}, {entry.source}")
        if entry.description:
            say(f"  {entry.description}")
    return FINE


def search(arguments: argparse.Namespace) -> int:
    """Print the test cases that have all words; 1 where there is none."""
    from pytest_evalstudio.metrics.detectors import redact_identifier

    hits = list(_opened(arguments).search(arguments.words, arguments.suites))
    for hit in hits:
        # A part of a secret or an address is not recognised as one, so the text is masked before it is cut.
        prompt = " ".join(redact_identifier(hit.prompt).split())
        say(f"{hit.suite}: {hit.key}: {prompt[:SHOWN_CHARS]}")
    return FINE if hits else FINDINGS


def sample(arguments: argparse.Namespace) -> int:
    """Write a suite of drawn test cases."""
    suite = _opened(arguments).sample(arguments.count, arguments.suites, seed=arguments.seed)
    path = Path(arguments.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    suite.save(path)
    say(f"wrote {path}: {len(suite.cases())} test cases")
    return FINE


def add_suite(arguments: argparse.Namespace) -> int:
    """Add a suite to the library."""
    from pytest_evalstudio.asking.library import create_library

    library = (
        # A library at a URL is read only; `add` refuses it with its own message.
        create_library(Path(arguments.library)) if "://" not in arguments.library else _opened(arguments)
    )
    entry = library.add(
        Path(arguments.suite), name=arguments.name, licence=arguments.licence, source=arguments.source
    )
    say(f"added {entry.name}: {entry.cases} test cases")
    return FINE


def _opened(arguments: argparse.Namespace) -> Library:
    from pytest_evalstudio.asking.library import Library

    return Library(arguments.library, cache=Path(arguments.cache))
