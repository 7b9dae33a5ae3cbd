"""The command `evalstudio`, run in the process of the tests."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.cli import main


@dataclass(frozen=True)
class Result:
    """The end of a command, with the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def evalstudio(*arguments: str, folder: Path) -> Result:
    """Run a command in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as exc:  # of argparse
            status = int(exc.code or 0)
    return Result(status, out.getvalue(), err.getvalue())
