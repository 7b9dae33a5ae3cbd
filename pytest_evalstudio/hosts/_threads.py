"""Threads for blocking code of the user."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

Work = Callable[[], None]
Start = Callable[[Work], None]
"""Starts work in a thread."""


def start_thread(work: Work) -> None:
    """Start work in a thread of its own.

    The thread is a daemon: a call that hangs beyond its time limit holds up neither other calls, as it would
    in a pool, nor the end of the process.
    """
    threading.Thread(target=work, name="evalstudio-call", daemon=True).start()


class CallThread:
    """A thread for all calls to one object; connections of SQLite, among others, belong to their thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._is_started = False

    def start(self, work: Work) -> None:
        """Start work after that which was started before."""
        if not self._is_started:
            self._is_started = True
            start_thread(self._work)
        self._calls.put(work)

    def end(self) -> None:
        """End the thread after the work that was started."""
        self._calls.put(None)

    def _work(self) -> None:
        while (work := self._calls.get()) is not None:
            work()


async def in_thread(function: Callable[[], Any], start: Start = start_thread) -> Any:
    """Run a blocking function in another thread and wait for it."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    result: list[Any] = []
    fault: list[BaseException] = []
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result.append(context.run(function))
        except BaseException as exc:
            fault.append(exc)
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(done.set)
            except RuntimeError:  # the session ended during the call: no caller waits for it
                return

    start(work)
    await done.wait()
    if fault:
        raise fault[0]
    return result[0]
