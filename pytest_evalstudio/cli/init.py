"""`evalstudio init`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("init", run, "Write a starter suite and configuration.")
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.formats.starter import write_starter

    written = write_starter(Path(arguments.folder))
    for path in written:
        say(f"wrote {path}")
    say(f"now: python -m pytest {written[0]}")
    return FINE
