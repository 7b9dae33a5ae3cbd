"""pytest as a program of its own, whose progress is read and which is ended when it is no longer wanted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from pytest_evalstudio.contrib.agent_loop.events import MODULE, VARIABLE
from pytest_evalstudio.core.errors import DataError

POLL_S = 0.2
ENDING_S = 10.0
"""Seconds that an interrupted run has to write its report before it is killed."""
MAX_OUTPUT_BYTES = 200_000
"""End of the output that is kept; a run prints one line per test at most."""
Report = Callable[[int, int], Awaitable[None]]
"""Awaited with the number of tests that have ended, and of all tests."""


class ProgramEnd(Struct, frozen=True, kw_only=True):
    """End of a program.

    Attributes:
        status: exit status.
        output: end of what it printed.
        is_late: whether it was ended by the limit of time.
    """

    status: int
    output: str
    is_late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A command that is run in a folder.

    Attributes:
        arguments: behind the Python of this process.
        folder: working directory.
        timeout_s: seconds after which it is interrupted.
        private_variables: of the environment, which it does not get.
    """

    arguments: Sequence[str]
    folder: Path
    timeout_s: float
    private_variables: Sequence[str] = ()

    async def run(self, report: Report | None = None) -> ProgramEnd:
        """Run the command; if this call is cancelled, the command is interrupted and ends first.

        Raises:
            DataError: if it cannot be started.
        """
        with tempfile.TemporaryDirectory(prefix="evalstudio-agent-") as name:
            events, output = Path(name) / "events", Path(name) / "output"
            with open(output, "wb") as file:
                try:
                    process = await asyncio.create_subprocess_exec(
                        sys.executable,
                        *self.arguments,
                        cwd=self.folder,
                        stdin=asyncio.subprocess.DEVNULL,
                        stdout=file,
                        stderr=asyncio.subprocess.STDOUT,
                        env={**self._environment(), VARIABLE: str(events)},
                        start_new_session=True,
                    )
                except OSError as exc:
                    raise DataError(f"pytest cannot be started: {exc.strerror}") from exc
            is_late = False
            try:
                async with asyncio.timeout(self.timeout_s):
                    await _watched(process, events, report)
            except TimeoutError:
                is_late = True
            finally:
                await _end_process(process)
            return ProgramEnd(status=process.returncode or 0, output=_end_of(output), is_late=is_late)

    def _environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name not in self.private_variables}


def pytest_program(
    arguments: Sequence[str], folder: Path, timeout_s: float, private_variables: Sequence[str] = ()
) -> Program:
    """Return a run of pytest that reports its progress."""
    return Program(
        arguments=("-m", "pytest", "-p", MODULE, *arguments),
        folder=folder,
        timeout_s=timeout_s,
        private_variables=private_variables,
    )


async def _watched(process: asyncio.subprocess.Process, events: Path, report: Report | None) -> None:
    """Wait for a program, and report its events."""
    waiting = asyncio.ensure_future(process.wait())
    ended_count, total, position = 0, 0, 0
    try:
        while not (await asyncio.wait([waiting], timeout=POLL_S))[0]:
            lines, position = _new_lines(events, position)
            for event in map(json.loads, lines):
                total = event.get("tests", total)
                ended_count += "ended" in event
            if lines and report is not None:
                await report(ended_count, total)
    finally:
        waiting.cancel()


def _new_lines(path: Path, position: int) -> tuple[list[str], int]:
    """Return the whole lines behind a position of a file, and the position behind them."""
    try:
        with open(path, "rb") as file:
            file.seek(position)
            content = file.read()
    except FileNotFoundError:
        return [], position
    whole = content[: content.rfind(b"\n") + 1]
    return whole.decode("utf-8").splitlines(), position + len(whole)


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """End a program and those that it started: by an interrupt, after a while by force."""
    if process.returncode is not None:
        return
    _signal(process, signal.SIGINT)
    try:
        # A cancelled call waits as well: the run writes its report, and gives its folder free.
        await asyncio.shield(asyncio.wait_for(process.wait(), ENDING_S))
    except TimeoutError:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)  # the workers of pytest-xdist are of the same group
        else:
            process.terminate()


def _end_of(path: Path) -> str:
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - MAX_OUTPUT_BYTES))
        return file.read().decode("utf-8", "replace")
