"""Common parts of the commands: exit statuses, the configuration of a file, JSON on standard output."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.display import printable, visible, visible_json

if TYPE_CHECKING:
    from pytest_evalstudio.core.progress import ProgressDisplay
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.formats.lab import TestLab
    from pytest_evalstudio.formats.suite import TestSuite


FINE, FINDINGS, USAGE = 0, 1, 2
MISSING_SHOWN = 3
"""Missing files that are named; all others are counted."""


def say(*lines: str, error: bool = False, flush: bool = False) -> None:
    """Print lines: everything that a command writes as text goes through here.

    Args:
        lines: each is printed on one line; control characters and CI commands in it are shown as escapes.
            Texts of models and files may be in any of them, so unambiguous personal data and secrets are
            masked; addresses of services, paths and digests stay.
        error: print to standard error.
        flush: write at once.
    """
    from pytest_evalstudio.metrics.detectors import redact_identifier

    stream = sys.stderr if error else sys.stdout
    for line in lines:
        stream.write(printable(visible(redact_identifier(line)), stream.encoding) + "\n")
    if flush:
        stream.flush()


def error_lines(message: str) -> list[str]:
    """Return the lines of an error: the excerpt of a file below it is indented.

    Other line breaks come from names and values. They remain in their line, which shows them as escapes, so
    that no file can add a line that looks like one of the command.
    """
    return re.split(r"\n(?=  )", message)


def progress_display(beginning: str) -> ProgressDisplay:
    """Return the display of what a command does in its context, on standard error.

    Args:
        beginning: what is done before the first object is counted, e.g. "asking the models".
    """
    from pytest_evalstudio.core.progress import ProgressDisplay, StreamOutput

    return ProgressDisplay(StreamOutput(sys.stderr), label="evalstudio", beginning=beginning)


def print_json(value: Any) -> None:
    """Print a value as JSON, infinities as words."""
    from pytest_evalstudio.record.codec import portable

    encoding = sys.stdout.encoding or "utf-8"
    text = json.dumps(
        portable(value),
        indent=2,
        # Consoles of Windows have encodings that lack most characters; escapes are valid JSON everywhere.
        ensure_ascii=not encoding.lower().startswith("utf"),
        default=str,
        allow_nan=False,
    )
    sys.stdout.write(visible_json(text) + "\n")


def configuration_for(suite: str, path: str | None = None) -> Configuration:
    """Return the configuration of a file: the chosen one, else the nearest one, else the defaults."""
    from pytest_evalstudio.formats.config import Configuration, load_configuration
    from pytest_evalstudio.formats.recognition import find_configuration

    start = Path.cwd() if is_url(suite) else Path(suite).absolute().parent
    file = Path(path) if path else find_configuration(start, Path(start.anchor))
    if not file:
        return Configuration(folder=start)
    config = load_configuration(file)
    # On standard error, since the output of some commands is JSON.
    say(*config.notes, error=True)
    return config


def listed(names: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def is_url(name: str) -> bool:
    """Return True if a name is an HTTP or HTTPS URL."""
    return name.lower().startswith(("http://", "https://"))


def local(name: str) -> Path:
    """Return the path of a file; a file that is given as a URL is fetched first."""
    if not is_url(name):
        return Path(name)
    from pytest_evalstudio.asking.downloads import fetch_suite

    return fetch_suite(name, Path(".evalstudio") / "suites")


def read_whole(path: Path, name: str) -> TestSuite | TestLab:
    """Read a suite or lab without errors.

    Raises:
        DataError: for the first fault, or if it is a data set, which names no models to ask.
    """
    from pytest_evalstudio.core.errors import DataError
    from pytest_evalstudio.formats.dataset import LlmDataset
    from pytest_evalstudio.formats.files import read
    from pytest_evalstudio.formats.kinds import read_source

    file = read(read_source(path, name))
    if file.errors:
        raise file.errors[0]
    if isinstance(file.content, LlmDataset):
        raise DataError("is a data set, which names no models to ask: give a suite or a lab", source=name)
    return file.content


def say_missing_files(content: TestSuite | TestLab, output: str | Path) -> None:
    """Name the documents of a written suite, and the images and files of a suite or lab, that are missing."""
    from pytest_evalstudio.formats.attachments import named_files
    from pytest_evalstudio.formats.suite import TestSuite

    folder = Path(output).parent
    if isinstance(content, TestSuite):
        documents = [path for test in content.tests for path in test.documents if not is_url(path)]
        files = [item.path for _, case in content.cases() for item in named_files(case)]
    else:
        documents = []
        files = [item.path for row in content.dataset.inputs for item in named_files(row)]
    paths = dict.fromkeys((*documents, *files))
    missing = [path for path in paths if not (folder / path).exists()]
    if missing:
        more = f" and {len(missing) - MISSING_SHOWN} more" if len(missing) > MISSING_SHOWN else ""
        say(
            f"{output}: its folder lacks {', '.join(missing[:MISSING_SHOWN])}{more}, which its cases name;"
            " copy the files, or write the suite beside them",
            error=True,
        )
