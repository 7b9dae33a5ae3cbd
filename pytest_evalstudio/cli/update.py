"""`evalstudio update`."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, say
from pytest_evalstudio.core.defaults import REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.paths import path_below

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.api.updating import UpdatedFile
    from pytest_evalstudio.record.reader import RecordReader

_YES = ("y", "yes")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("keys", nargs="+", metavar="KEY", help="key or node id of a test case")
    parser.add_argument(
        "--run",
        default=REPORT_FOLDER,
        metavar="RUN",
        help="report folder or record with the answers (default: %(default)s)",
    )
    parser.add_argument(
        "--model", default="", metavar="NAME", help="model whose answers are taken, where they differ"
    )
    parser.add_argument(
        "--condition",
        default="",
        metavar="TEXT",
        help="new condition of a single case, which the answer meets",
    )
    parser.add_argument("--yes", action="store_true", help="write without a question")


def run(arguments: argparse.Namespace) -> int:
    """Show what changes in the files of suites, and write it if the user agrees."""
    from pytest_evalstudio.api.updating import observations, updated_file
    from pytest_evalstudio.record.reader import RecordReader, record_path

    if arguments.condition and len(arguments.keys) > 1:
        raise ConfigurationError("--condition is for a single case; give one KEY")
    reader = RecordReader(record_path(arguments.run))
    observed = observations(reader.items(), arguments.keys, _model_key(reader, arguments.model))
    paths = {file: _suite_path(file) for file in dict.fromkeys(each.file for each in observed)}
    updates = [
        updated_file(path, [each for each in observed if each.file == file], arguments.condition)
        for file, path in paths.items()
    ]
    updates = [update for update in updates if update.after != update.before]
    if not updates:
        say("the suites expect these answers already")
        return FINE
    for update in updates:
        say(*_diff(update))
    if not (arguments.yes or _agrees()):
        say("nothing was written; --yes writes without a question")
        return FINDINGS
    for update in updates:
        _write(update)
        say(f"wrote {update.path}; `evalstudio baseline accept` takes the next run into the baseline")
    return FINE


def _suite_path(file: str) -> Path:
    """Return the path of a suite that a record names; a stranger's record must name no file elsewhere."""
    try:
        path_below(Path.cwd(), file)
    except ValueError as exc:
        raise ConfigurationError(f"{file}: {exc}") from None
    if not Path(file).is_file():
        raise ConfigurationError(
            f"{file}: there is no such file here; run the command in the root folder of the tests"
        )
    return Path(file)


def _model_key(reader: RecordReader, name: str) -> str:
    models = {reader.run.model_name(key): key for key in reader.run.models}
    if name and name not in models:
        raise unknown_name("model", name, models, f"The run has: {', '.join(models)}.")
    return models.get(name, "")


def _diff(update: UpdatedFile) -> list[str]:
    lines = difflib.unified_diff(
        update.before.splitlines(), update.after.splitlines(), str(update.path), str(update.path), n=1
    )
    return [line.rstrip("\n") for line in lines]


def _agrees() -> bool:
    """Return whether the user agrees; without a terminal nobody can be asked."""
    if not sys.stdin.isatty():
        return False
    sys.stdout.write("Write it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in _YES


def _write(update: UpdatedFile) -> None:
    from pytest_evalstudio.core.writing import write_whole

    mark = b"\xef\xbb\xbf" if update.path.read_bytes().startswith(b"\xef\xbb\xbf") else b""
    write_whole(update.path, mark + update.after.encode("utf-8"))
