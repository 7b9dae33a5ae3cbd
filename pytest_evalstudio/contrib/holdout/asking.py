"""Runs the process that asks the application, without anything that hidden cases could be learnt from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pytest_evalstudio.contrib.holdout.ask_process import AskRequest
from pytest_evalstudio.core.errors import DataError, EvalStudioError
from pytest_evalstudio.core.processes import clean_environment
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.source import parse

MODULE = "pytest_evalstudio.contrib.holdout.ask_process"
OUTPUT = "output.txt"
MAX_REPLY_BYTES = 256 << 20


def ask(
    request: AskRequest, project: Path, folder: Path, *, prefix: Sequence[str], timeout_s: float
) -> TestLab:
    """Return the answers of the project's models.

    Args:
        request: the questions.
        project: current folder of the process.
        folder: that what it prints is written to.
        prefix: command in front of it.
        timeout_s: after which it is killed.

    Raises:
        DataError: if it fails, takes too long, or replies with something else; no text of it is quoted, since
            it may quote a hidden question.
    """
    command = [*prefix, sys.executable, "-P", "-B", "-m", MODULE]
    output = folder / OUTPUT
    # A file, not a pipe: a reply without end is not held in memory.
    with open(output, "wb") as file, tempfile.TemporaryFile(dir=folder) as replies:
        output.chmod(0o600)
        try:
            process = subprocess.Popen(
                command,
                cwd=project,
                env=clean_environment(),
                stdin=subprocess.PIPE,
                stdout=replies,
                stderr=file,
                start_new_session=True,
            )
        except OSError as exc:
            raise DataError(f"{command[0]}: cannot be started: {exc.strerror or exc}") from None
        try:
            process.communicate(msgspec.json.encode(request), timeout_s)
        except subprocess.TimeoutExpired:
            raise DataError(f"the application took more than {timeout_s:g} s; raise --timeout") from None
        finally:
            _end(process)
        is_too_long = replies.seek(0, os.SEEK_END) > MAX_REPLY_BYTES
        replies.seek(0)
        reply = b"" if is_too_long else replies.read()
    if process.returncode or is_too_long:
        raise DataError(
            f"the application could not be asked (exit status {process.returncode}); {output} has its output"
        )
    try:
        content = read(parse(reply.decode("utf-8"), "answers")).content
    except (EvalStudioError, ValueError, RecursionError) as exc:
        write_whole(folder / "fault.txt", str(exc).encode())
        raise DataError(f"the application replied with no lab; {folder / 'fault.txt'} says why") from None
    if not isinstance(content, TestLab):
        raise DataError("the application replied with no lab")
    return content


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that has not ended, and those that it started."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
