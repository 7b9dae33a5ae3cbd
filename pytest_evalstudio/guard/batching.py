"""Batches of concurrent requests: all that wait when the evaluators are free are checked together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pytest_evalstudio.guard.results import CheckRequest, GuardVerdict

MOST_AT_ONCE = 64
"""Answers of one batch."""
MOST_WAITING = 2000
"""Answers that may wait; more are refused."""

CheckAll = Callable[[Sequence[CheckRequest]], list[GuardVerdict]]


class Busy(Exception):
    """Too many answers wait."""


class Batcher:
    """Puts requests to the evaluators, one batch at a time, in a thread of its own.

    There is no waiting for a batch to fill: a lone request is checked at once, and those that arrive
    meanwhile make the next batch.

    Args:
        check_all: called in the thread with each batch.
        on_batch: called with the size of each batch.
    """

    def __init__(self, check_all: CheckAll, on_batch: Callable[[int], None] = lambda size: None) -> None:
        self.check_all = check_all
        self._on_batch = on_batch
        self._waiting: asyncio.Queue[tuple[CheckRequest, asyncio.Future[GuardVerdict]]] = asyncio.Queue()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evalstudio-guard")
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take requests, in the running event loop."""
        self._task = asyncio.create_task(self._run())

    async def check(self, request: CheckRequest) -> GuardVerdict:
        """Return the verdict on an answer.

        Raises:
            Busy: if too many answers wait.
        """
        if self._waiting.qsize() >= MOST_WAITING:
            raise Busy
        future: asyncio.Future[GuardVerdict] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((request, future))
        return await future

    async def settled(self) -> None:
        """Wait until the batch that runs now is finished."""
        await asyncio.get_running_loop().run_in_executor(self._thread, lambda: None)

    async def close(self) -> None:
        """Stop; requests that wait are cancelled."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self._waiting.get()]
            while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            batch = [(request, future) for request, future in batch if not future.done()]
            if not batch:
                continue
            self._on_batch(len(batch))
            requests = [request for request, _ in batch]
            try:
                verdicts = await loop.run_in_executor(self._thread, self.check_all, requests)
            except Exception as exc:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(exc)
                continue
            for (_, future), verdict in zip(batch, verdicts, strict=True):
                if not future.done():
                    future.set_result(verdict)
