"""Clean processes that collect, score and ask."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from pytest_evalstudio.contrib.attestation.exchange import read, write
from pytest_evalstudio.core.errors import DataError

T = TypeVar("T", bound=Struct)
_PREFIXES = ("PYTEST_", "EVALSTUDIO_", "PYTHON", "GITHUB_", "CI", "COV_")
"""Of variables that could add options, plugins, modules or outputs."""
_SHOWN_LINES = 15


def clean_environment() -> dict[str, str]:
    """Return the environment without variables that could change what a session runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_PREFIXES)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1"}


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
        command = [sys.executable, "-P", "-B", "-m", module, str(request_path), str(result_path)]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DataError(f"the clean process took more than {timeout_s:g} s; raise --timeout") from None
        if done.returncode or not result_path.is_file():
            lines = f"{done.stdout}\n{done.stderr}".strip().splitlines()[-_SHOWN_LINES:]
            raise DataError(
                f"the clean process ended with status {done.returncode}:\n  " + "\n  ".join(lines)
            )
        return read(result_path, kind)
