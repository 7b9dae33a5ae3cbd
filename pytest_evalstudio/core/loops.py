"""An event loop in a thread, for concurrent work that another thread waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

CLOSING_S = 10.0

T = TypeVar("T")


class LoopThread:
    """An event loop in a background thread, started when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which runs from the first use on."""
        return self._started()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine.

        An interrupt of this thread cancels the coroutine and waits until it has stopped.
        """
        loop = self._started()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            while not wait(
                [future], timeout=1.0
            ).done:  # in slices: Windows does not interrupt an endless wait
                pass
        except BaseException:
            future.cancel()
            wait([asyncio.run_coroutine_threadsafe(_let_tasks_end(), loop)], timeout=CLOSING_S)
            raise
        return future.result()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine whose result is needed later."""
        return asyncio.run_coroutine_threadsafe(work, self._started())

    def cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel submitted coroutines together, before any of them continues.

        If another thread cancelled one after the other, each would free its slot for the next.
        """
        submitted = list(futures)

        def cancel() -> None:
            for future in submitted:
                future.cancel()

        self._started().call_soon_threadsafe(cancel)

    def stop(self) -> None:
        """End what is still running, then the thread."""
        if self._loop is None or self._thread is None:
            return
        wait([asyncio.run_coroutine_threadsafe(_let_tasks_end(), self._loop)], timeout=CLOSING_S)
        wait(
            [asyncio.run_coroutine_threadsafe(self._loop.shutdown_asyncgens(), self._loop)], timeout=CLOSING_S
        )
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=CLOSING_S)
        if not self._thread.is_alive():
            self._loop.close()
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop


async def _let_tasks_end() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
