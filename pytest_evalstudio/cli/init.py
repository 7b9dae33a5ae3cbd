"""`evalstudio init`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.formats.starter import write_starter

    written = write_starter(Path(arguments.folder))
    for path in written:
        say(f"wrote {path}")
    say(f"now: python -m pytest {written[0]}")
    return FINE
