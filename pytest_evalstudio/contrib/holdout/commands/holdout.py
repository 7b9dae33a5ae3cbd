"""`evalstudio holdout`."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, print_json, read_whole, say
from pytest_evalstudio.core.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.formats.config import HoldoutTable

DEFAULT_TIMEOUT_S = 900.0


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=split)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    text = "Hide a part of a suite by a keyed digest of its cases."
    command = actions.add_parser("split", help=text, description=text)
    command.set_defaults(command=split)
    command.add_argument("suite", metavar="SUITE", help="suite of the project")
    command.add_argument(
        "--hidden", required=True, metavar="DIR", help="new folder outside of the repository, for you alone"
    )
    command.add_argument(
        "--open",
        metavar="FILE",
        help="write the open half there, as JSON, in place of SUITE; without it SUITE keeps all cases",
    )
    command.add_argument(
        "--share", type=float, metavar="P", help="share of the cases to hide (default: [holdout] share)"
    )
    command.add_argument("--looks", type=int, metavar="N", help="ration of looks (default: [holdout] looks)")
    command.add_argument(
        "--ask-with",
        default="",
        metavar="COMMAND",
        help='command in front of the process that asks the application, e.g. "sudo -n -u agent"',
    )
    text = "Ask and score both halves, and print a noisy answer; 1 if the suite was fitted."
    command = actions.add_parser("look", help=text, description=text)
    command.set_defaults(command=look)
    _add_folder(command)
    command.add_argument(
        "--project", default=".", metavar="PATH", help="folder with application and open half (default: .)"
    )
    command.add_argument(
        "--timeout",
        type=float,
        default=DEFAULT_TIMEOUT_S,
        metavar="S",
        help="seconds for the application (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print the answer as JSON")
    text = "Show the exact results of all looks, to you who have the key."
    command = actions.add_parser("show", help=text, description=text)
    command.set_defaults(command=show)
    _add_folder(command)


def _add_folder(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", metavar="DIR", help="folder that split made")


def split(arguments: argparse.Namespace) -> int:
    """Split a suite."""
    from pytest_evalstudio.contrib.holdout.folder import KEY, KEY_VARIABLE, new_key
    from pytest_evalstudio.contrib.holdout.split import hide
    from pytest_evalstudio.formats.suite import TestSuite

    suite_path = Path(arguments.suite)
    suite = read_whole(suite_path, arguments.suite)
    if not isinstance(suite, TestSuite):
        raise DataError("is a lab; give a suite", source=arguments.suite)
    folder = Path(arguments.hidden)
    project = _project_of(suite_path, folder)
    open_path = _open_path(arguments, project)
    config = configuration_for(arguments.suite)
    table = config.holdout
    for name in ("share", "looks"):
        if (value := getattr(arguments, name)) is not None:
            table = _with_option(table, name, value)
    path_in_project = open_path or suite_path.resolve()
    halves = hide(
        suite,
        str(path_in_project.relative_to(project)),
        folder,
        key=new_key(),
        config=config,
        table=table,
        is_shared=open_path is None,
        ask_with=tuple(shlex.split(arguments.ask_with)),
    )
    open_count, hidden_count = halves.counts
    place = f"{folder / KEY}" if KEY_VARIABLE not in os.environ else f"${KEY_VARIABLE}"
    say(f"{open_count} cases open, {hidden_count} hidden in {folder}, key: {place}")
    if open_path is None:
        say(f"{arguments.suite} keeps the hidden cases: an agent that reads it sees them")
        return FINE
    halves.open.save(open_path)
    say(f"wrote {open_path}")
    if open_path != suite_path.resolve():
        say(f"remove {arguments.suite}, which has the hidden cases")
    say(
        "history, reports, baselines and caches of the project may have the hidden cases: give the agent a"
        " copy without them"
    )
    return FINE


def look(arguments: argparse.Namespace) -> int:
    """Look at a hidden half within its ration."""
    from pytest_evalstudio.contrib.holdout.folder import HiddenHalf
    from pytest_evalstudio.contrib.holdout.look import look as look_at
    from pytest_evalstudio.record.holdout import GapCode

    if arguments.timeout <= 0:
        raise ConfigurationError("--timeout: must be above 0")
    answer = look_at(HiddenHalf(Path(arguments.folder)), Path(arguments.project), timeout_s=arguments.timeout)
    if arguments.json:
        import msgspec

        print_json(msgspec.to_builtins(answer))
    else:
        say(answer.sentence)
    return FINDINGS if answer.gap is GapCode.FITTED else FINE


def show(arguments: argparse.Namespace) -> int:
    """Show the exact results."""
    from pytest_evalstudio.contrib.holdout.folder import HiddenHalf
    from pytest_evalstudio.contrib.holdout.ledger import Ledger

    half = HiddenHalf(Path(arguments.folder))
    ledger = Ledger(half)
    for entry in ledger.results:
        say(f"look {entry.look}: {entry.sentence}")
    failed = ledger.looks - len(ledger.results)
    more = f", {failed} of them without a result" if failed else ""
    say(f"{ledger.looks} of {half.settings.looks} looks spent{more}")
    return FINE


def _project_of(suite_path: Path, folder: Path) -> Path:
    """Return the folder of the project, which must not hold the hidden half.

    Raises:
        ConfigurationError: if it does, or the suite is not below the current folder.
    """
    project = Path.cwd().resolve()
    if not suite_path.resolve().is_relative_to(project):
        raise ConfigurationError(f"{suite_path}: is not below the current folder; start in the project")
    repository = next((each for each in (project, *project.parents) if (each / ".git").exists()), project)
    if folder.resolve().is_relative_to(repository):
        raise ConfigurationError(
            f"--hidden {folder}: is inside the repository {repository}; give a folder that the agent"
            " cannot read"
        )
    return project


def _open_path(arguments: argparse.Namespace, project: Path) -> Path | None:
    if arguments.open is None:
        return None
    path = Path(arguments.open).resolve()
    if path.suffix != ".json" or not path.is_relative_to(project):
        raise ConfigurationError(f"--open {arguments.open}: give a file with the suffix .json in the project")
    return path


def _with_option(table: HoldoutTable, name: str, value: float) -> HoldoutTable:
    """Return the settings with an option of the command line.

    Raises:
        ConfigurationError: if the value is out of range.
    """
    from pydantic import ValidationError

    from pytest_evalstudio.formats.config import HoldoutTable

    try:
        return HoldoutTable.model_validate({**table.model_dump(), name: value})
    except ValidationError as exc:
        raise ConfigurationError(f"--{name} {value:g}: {exc.errors()[0]['msg']}") from None
