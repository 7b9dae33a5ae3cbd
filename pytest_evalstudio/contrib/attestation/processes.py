"""Clean processes that collect, score and ask."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TypeVar

from msgspec import Struct

from pytest_evalstudio.contrib.attestation.exchange import read, write
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.processes import clean_environment

T = TypeVar("T", bound=Struct)
_SHOWN_LINES = 15
_SHOWN_BYTES = 8192
_MAX_BYTES = 2 << 30


def run_module(module: str, request: Struct, kind: type[T], *, folder: Path, timeout_s: float) -> T:
    """Run a module of this part in a folder, and return its result.

    Neither the folder nor `PYTHONPATH` is searched for modules at the start, so that no sitecustomize.py of
    the project is loaded.

    Raises:
        DataError: if the process fails, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="evalstudio-") as name:
        request_path, result_path = Path(name) / "request.json", Path(name) / "result.json"
        write(request_path, request)
        output = Path(name) / "output.txt"
        command = [sys.executable, "-P", "-B", "-m", module, str(request_path), str(result_path)]
        with open(output, "wb") as file:
            status = _status(command, folder, file, timeout_s)
        if status or not result_path.is_file():
            lines = "\n  ".join(_last_lines(output))
            raise DataError(f"the clean process ended with status {status}:\n  {lines}")
        return _result(result_path, kind)


def _status(command: Sequence[str], folder: Path, output: IO[bytes], timeout_s: float) -> int:
    """Run a command with its children, and return its exit status.

    Raises:
        DataError: if it takes too long.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise DataError(f"the clean process took more than {timeout_s:g} s; raise --timeout") from None
    finally:
        if process.poll() is None:
            # An application may have started processes of its own.
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def _last_lines(output: Path) -> list[str]:
    with open(output, "rb") as file:
        file.seek(max(0, output.stat().st_size - _SHOWN_BYTES))
        return file.read().decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:]


def _result(path: Path, kind: type[T]) -> T:
    """Return the result in a file, which code under test may have written.

    Raises:
        DataError: if it is too large or malformed.
    """
    if path.stat().st_size > _MAX_BYTES:
        raise DataError(f"the clean process wrote more than {_MAX_BYTES >> 20} MiB; verify fewer cases")
    try:
        return read(path, kind)
    except ValueError as exc:
        raise DataError(f"the clean process wrote a malformed result: {exc}") from None
