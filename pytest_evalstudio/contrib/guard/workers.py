"""Worker processes, as the service sees them."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.contrib.guard.worker_process import (
    CheckTexts,
    EncodedVerdict,
    Failed,
    GuardDescription,
    Ready,
    Refused,
    run_worker,
)
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.processes import safe_context, start_resource_tracker

if TYPE_CHECKING:
    from collections.abc import Iterator

STOP_S = 5.0
"""Seconds in which a worker without work must end."""
_DIRECT_BYTES = 32_768
"""A message up to this size fits into an empty pipe, so that writing it cannot block the event loop."""
_STARTING = threading.Lock()


class WorkerRefused(EvalStudioError):
    """A worker cannot be started: the configuration is wrong, or the process has ended while loading."""


class WorkerEnded(Exception):
    """The worker has ended before it answered."""


class CheckFailed(Exception):
    """The check has raised an exception.

    Args:
        error: name of the exception's type.
    """

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Worker:
    """A process with its models loaded; it checks one batch at a time.

    Start it with `Worker.start`.
    """

    def __init__(self, process: BaseProcess, connection: Connection, on_end: Callable[[], None]) -> None:
        self._process = process
        self._connection = connection
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._reply: asyncio.Future[Any] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self.has_ended = False
        self.evaluators: tuple[str, ...] = ()

    @classmethod
    async def start(cls, source: GuardDescription, check_s: float, on_end: Callable[[], None]) -> Worker:
        """Return a worker whose models are loaded.

        Args:
            source: the guard.
            check_s: seconds that a batch may take.
            on_end: called when the process has ended.

        Raises:
            WorkerRefused: if the guard cannot be opened, or the process ends before.
        """
        spawning = asyncio.ensure_future(asyncio.to_thread(_spawn, source, check_s))
        try:
            # The thread cannot be stopped: a process that it starts later is killed by the callback.
            process, connection = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            spawning.add_done_callback(_kill_spawned)
            raise
        except OSError as exc:
            raise WorkerRefused(f"no process can be started: {exc.strerror or exc}") from None
        worker = cls(process, connection, on_end)
        threading.Thread(target=worker._receive_all, name="evalstudio-guard-worker", daemon=True).start()
        try:
            first = await worker._reply
        except WorkerEnded:
            # The exit status is known from then on.
            await worker._gone
            raise WorkerRefused(f"a worker ended while it loaded its models ({_status(process)})") from None
        except asyncio.CancelledError:
            worker.kill()
            raise
        if isinstance(first, Refused):
            raise WorkerRefused(first.reason)
        assert isinstance(first, Ready)
        worker.evaluators = first.evaluators
        return worker

    async def check(self, batch: Sequence[CheckTexts]) -> list[EncodedVerdict]:
        """Return the verdicts on a batch.

        Raises:
            WorkerEnded: if the process ends before.
            CheckFailed: if the check raises an exception.
        """
        if self.has_ended:
            raise WorkerEnded
        self._reply = self._loop.create_future()
        message = pickle.dumps(list(batch))
        try:
            if len(message) <= _DIRECT_BYTES:
                self._connection.send_bytes(message)
            else:
                await asyncio.to_thread(self._connection.send_bytes, message)
        except OSError:
            raise WorkerEnded from None
        reply = await self._reply
        if isinstance(reply, Failed):
            raise CheckFailed(reply.error)
        verdicts: list[EncodedVerdict] = reply
        return verdicts

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    async def stop(self) -> None:
        """End the process, which has no work."""
        with suppress(OSError):
            self._connection.send(None)
        try:
            # Cancelling at the limit must not reach `_gone`, which is awaited below.
            await asyncio.wait_for(asyncio.shield(self._gone), STOP_S)
        except TimeoutError:
            self.kill()
            await self._gone

    def _receive_all(self) -> None:
        """Pass messages to the event loop until the process ends; runs in a thread."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                message = self._connection.recv()
                self._post(self._receive, message)
        self._post(self._end)
        # The pipe has ended, but the process may still run or hang.
        self._process.join(STOP_S)
        self._process.kill()
        self._process.join()
        self._connection.close()
        self._post(self._leave)

    def _post(self, callback: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _receive(self, message: Any) -> None:
        if not self._reply.done():
            self._reply.set_result(message)

    def _end(self) -> None:
        self.has_ended = True
        if not self._reply.done():
            self._reply.set_exception(WorkerEnded())
            self._reply.exception()  # retrieved here: nobody may wait for it
        self._on_end()

    def _leave(self) -> None:
        if not self._gone.done():
            self._gone.set_result(None)


def kill_all() -> None:
    """Kill the workers that are left of this process, however the service has ended."""
    for process in multiprocessing.active_children():
        process.kill()


def _spawn(source: GuardDescription, check_s: float) -> tuple[BaseProcess, Connection]:
    context = safe_context()
    connection, other_end = context.Pipe()
    process = context.Process(target=run_worker, args=(other_end, source, check_s), daemon=True)
    with _STARTING, _signals_blocked():
        process.start()
    # From now on only the worker has its end, so that its death is an end of file for the service.
    other_end.close()
    return process, connection


def _kill_spawned(spawning: asyncio.Future[tuple[BaseProcess, Connection]]) -> None:
    if not spawning.cancelled() and spawning.exception() is None:
        spawning.result()[0].kill()


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Let the new process start with Ctrl-C and SIGTERM blocked; it handles them once it has loaded."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    start_resource_tracker()  # its start would unblock them
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _status(process: BaseProcess) -> str:
    code = process.exitcode
    return f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
