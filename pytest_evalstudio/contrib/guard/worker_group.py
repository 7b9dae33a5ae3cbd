"""The workers of one configuration: they take batches, and those that end are replaced."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Protocol

from pytest_evalstudio.contrib.guard.batching import RequestBatch, RequestQueue
from pytest_evalstudio.contrib.guard.journal import Journal
from pytest_evalstudio.contrib.guard.worker_process import GuardDescription
from pytest_evalstudio.contrib.guard.workers import CheckFailed, Worker, WorkerEnded, WorkerRefused

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
"""Pauses between tries to start a worker; each is twice the one before."""
CLOSE_S = 3.0
MAX_TRIES = 2
"""Batches of a request that may end with their worker."""


class CheckTimeout(Exception):
    """The check took too long, and was stopped."""


class CheckLost(Exception):
    """The workers that checked the request ended."""


class GroupMeasures(Protocol):
    """Counts batches and replaced workers."""

    def batched(self, size: int) -> None: ...
    def replaced(self, reason: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Size and limits of a group.

    Attributes:
        workers: processes.
        check_s: seconds that a batch may take; then its worker is killed and replaced.
    """

    workers: int
    check_s: float


class WorkerGroup:
    """Processes with the same configuration.

    At most all but one check a request that may take long, so that short requests always have a worker; a
    single worker checks both.

    Args:
        source: the guard.
        queue: requests.
        options: size and limits.
        measures: counts batches and replaced workers.
        journal: receives lines about faults.
    """

    def __init__(
        self,
        source: GuardDescription,
        queue: RequestQueue,
        options: GroupOptions,
        measures: GroupMeasures,
        journal: Journal,
    ) -> None:
        self._source = source
        self._queue = queue
        self._options = options
        self._measures = measures
        self._journal = journal
        self._workers: list[Worker] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._retired = asyncio.Event()
        self._living = 0
        self._alone = 0
        self.evaluators: tuple[str, ...] = ()

    async def open(self) -> None:
        """Start the processes and load their models.

        Raises:
            WorkerRefused: if one of them cannot be started; then the others are ended.
        """
        # At the same time: each loads the models.
        starts = [asyncio.create_task(self._started()) for _ in range(self._options.workers)]
        try:
            self._workers = list(await asyncio.gather(*starts))
        except BaseException:
            for start in starts:
                start.cancel()
            # A start that was cancelled has ended its process; those that are complete are killed here.
            for worker in await asyncio.gather(*starts, return_exceptions=True):
                if isinstance(worker, Worker):
                    worker.kill()
            raise
        self.evaluators = self._workers[0].evaluators

    def start(self) -> None:
        """Begin to take requests."""
        self._living = len(self._workers)
        self._tasks = [asyncio.create_task(self._run(worker)) for worker in self._workers]

    async def retire(self) -> None:
        """Take no more requests, finish the running batches and end the processes."""
        self._retired.set()
        self._queue.wake()
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """End the processes; those that work for longer than `CLOSE_S` are killed."""
        self._retired.set()
        self._queue.wake()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _started(self) -> Worker:
        return await Worker.start(self._source, self._options.check_s, self._queue.wake)

    async def _run(self, first: Worker) -> None:
        """Take batches with a worker and its successors."""
        worker: Worker | None = first
        while worker is not None:
            try:
                await self._work(worker)
            except BaseException:
                worker.kill()
                raise
            # A worker that has ended does not count for long requests until its successor is there.
            self._living -= 1
            if self._retired.is_set():
                await worker.stop()
                return
            worker = await self._successor()
            self._living += worker is not None
            self._queue.wake()

    async def _work(self, worker: Worker) -> None:
        """Check batches until the worker ends or the group is retired."""
        was_stopped = False
        while not (self._retired.is_set() or worker.has_ended or was_stopped):
            is_free = self._options.workers == 1 or self._alone + 1 < self._living
            batch = self._queue.take(allows_alone=is_free)
            if batch is None:
                await self._queue.changed()
                continue
            self._alone += batch.is_alone
            try:
                was_stopped = await self._check(worker, batch)
            finally:
                self._alone -= batch.is_alone
                self._queue.wake()
        if worker.has_ended and not was_stopped:
            self._measures.replaced("ended")
            self._journal.fault("ended", "a worker has ended by itself and is replaced")

    async def _check(self, worker: Worker, batch: RequestBatch) -> bool:
        """Answer a batch; return True if its worker was killed for taking too long."""
        self._measures.batched(len(batch.entries))
        try:
            async with asyncio.timeout(self._options.check_s):
                verdicts = await worker.check(batch.texts)
        except TimeoutError:
            worker.kill()
            batch.fail(CheckTimeout())
            self._measures.replaced("timeout")
            self._journal.fault(
                "timeout",
                f"a check took more than {self._options.check_s:g} s; its worker is stopped and replaced",
            )
            return True
        except WorkerEnded:
            self._check_again(batch)
        except CheckFailed as exc:
            batch.fail(exc)
        else:
            batch.finish(verdicts)
        return False

    def _check_again(self, batch: RequestBatch) -> None:
        """Check each request of a lost batch alone, so that only the one that ends workers fails."""
        # A batch of several was never lost before: those that were are alone.
        is_last = any(entry.tries + 1 >= MAX_TRIES for entry in batch.entries)
        if is_last:
            batch.fail(CheckLost())
        else:
            self._queue.put_back(batch)

    async def _successor(self) -> Worker | None:
        """Return a new worker, None if the group is retired before."""
        pause_s = FIRST_PAUSE_S
        while not self._retired.is_set():
            try:
                worker = await self._started()
            except WorkerRefused as exc:
                self._journal.fault("start", f"a worker cannot be started, next try in {pause_s:g} s: {exc}")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._retired.wait(), pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                continue
            if self._retired.is_set():
                await worker.stop()
                return None
            return worker
        return None
