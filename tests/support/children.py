"""Child processes of tests: waited for with limits that a loaded machine keeps, and ended with the test.

Their output goes to files: no child waits for a reader of a pipe, and a failed wait can show it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

LONGEST_WAIT_S = 120.0
"""Limit of every wait; it only ends tests that would hang."""
_PAUSE_S = 0.02
T = TypeVar("T")


class Finished(NamedTuple):
    """An ended process: what it printed, and its exit status."""

    out: str
    err: str
    returncode: int


class Child:
    """A process that a test has started.

    Args:
        prepare: called in the new process before the command.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        is_group: bool = False,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._is_group = is_group
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            env={**os.environ, **(environment or {})},
            start_new_session=is_group,
            preexec_fn=prepare,
        )
        self.pid = self._process.pid

    @property
    def out(self) -> str:
        """Return what it has printed so far."""
        return _text(self._out)

    @property
    def err(self) -> str:
        return _text(self._err)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait_until(self, condition: Callable[[], T], what: str) -> T:
        """Return the result of a condition as soon as it is true.

        Raises:
            AssertionError: if the process ends before, with its output, or the wait takes too long.
        """
        end = time.monotonic() + LONGEST_WAIT_S
        while True:
            has_ended = self.has_ended  # asked first: the condition may become true at the end
            result = condition()
            if result:
                return result
            assert not has_ended, f"the process ended before {what}:\n{self._described()}"
            assert time.monotonic() < end, f"no {what} within {LONGEST_WAIT_S} s:\n{self._described()}"
            time.sleep(_PAUSE_S)

    def send_signal(self, signal_number: signal.Signals) -> None:
        self._process.send_signal(signal_number)

    def finish(self) -> Finished:
        """Wait for its end.

        Raises:
            AssertionError: if that takes too long, with its output.
        """
        try:
            status = self._process.wait(LONGEST_WAIT_S)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(
                f"the process did not end within {LONGEST_WAIT_S} s:\n{self._described()}"
            ) from None
        return Finished(self.out, self.err, status)

    def end(self) -> None:
        """Kill it, and its group where it has one."""
        if self._is_group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill it and forget its output."""
        self.end()
        self._out.close()
        self._err.close()

    def _described(self) -> str:
        return f"exit status {self._process.poll()}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Children:
    """The processes of a test, all of which `close` ends."""

    def __init__(self) -> None:
        self._children: list[Child] = []

    def start(self, command: Sequence[str], folder: Path, **options: object) -> Child:
        """Start a process; see `Child`."""
        child = Child(command, folder, **options)  # type: ignore[arg-type]
        self._children.append(child)
        return child

    def close(self) -> None:
        while self._children:
            self._children.pop().close()


def wait_until(condition: Callable[[], T], what: str) -> T:
    """Return the result of a condition as soon as it is true.

    Raises:
        AssertionError: if that takes too long.
    """
    end = time.monotonic() + LONGEST_WAIT_S
    while not (result := condition()):
        assert time.monotonic() < end, f"no {what} within {LONGEST_WAIT_S} s"
        time.sleep(_PAUSE_S)
    return result


def _text(file: IO[bytes]) -> str:
    descriptor = file.fileno()
    content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)  # the child shares the position
    return content.decode("utf-8", "replace").replace("\r\n", "\n")
