"""Processes of this package that import no module from the current folder, which may hold files of others.

Python puts that folder first on the path of `python -c`, by which `multiprocessing` starts processes: a
`socket.py` beside the data would run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from threading import RLock
from typing import Any

_SAFE_PATH = "PYTHONSAFEPATH"
_SETTING_PREFIXES = ("PYTEST_", "EVALSTUDIO_", "PYTHON", "GITHUB_", "CI", "COV_")
"""Prefixes of variables that hold keys of this package, or could add options, plugins, modules or outputs."""
_LOCK = RLock()


def clean_environment() -> dict[str, str]:
    """Return the environment without variables that could change what a process runs or prints."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(_SETTING_PREFIXES)}
    return {**others, "PYTHONDONTWRITEBYTECODE": "1", _SAFE_PATH: "1"}


class SafeProcess(SpawnProcess):
    """Process whose modules come from the path of its parent, not from the current folder."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._user_setting = os.environ.get(_SAFE_PATH)

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802 (the name in multiprocessing)
        with _safe_path():
            return SpawnProcess._Popen(process_obj)

    def run(self) -> None:
        """Run the target with the user's environment, which programs that it starts inherit."""
        _set(self._user_setting)
        super().run()


class SafeContext(SpawnContext):
    """Starts processes of the class above."""

    Process = SafeProcess


def safe_context() -> SafeContext:
    """Return a context that starts safe processes; also that which frees the resources of all of them."""
    start_resource_tracker()
    return SafeContext()


def start_resource_tracker() -> None:
    """Start the process that `multiprocessing` needs beside its workers."""
    with _safe_path():
        resource_tracker.ensure_running()


@contextmanager
def _safe_path() -> Iterator[None]:
    with _LOCK:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            _set(before)


def _set(value: str | None) -> None:
    if value is None:
        os.environ.pop(_SAFE_PATH, None)
    else:
        os.environ[_SAFE_PATH] = value
