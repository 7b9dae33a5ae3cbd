"""The guard behind the application: its workers, and their replacement when the configuration changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from pytest_evalstudio.contrib.guard.batching import RequestQueue
from pytest_evalstudio.contrib.guard.journal import Journal
from pytest_evalstudio.contrib.guard.results import CheckRequest
from pytest_evalstudio.contrib.guard.watching import Watched
from pytest_evalstudio.contrib.guard.worker_group import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    GroupMeasures,
    GroupOptions,
    WorkerGroup,
)
from pytest_evalstudio.contrib.guard.worker_process import EncodedVerdict, GuardDescription
from pytest_evalstudio.core.errors import EvalStudioError

WATCH_S = 1.0
"""Interval at which the configuration's file is looked at."""

ReadSource = Callable[[], GuardDescription]


class PoolMeasures(GroupMeasures, Protocol):
    """Counts changed configurations as well."""

    def reloaded(self, *, accepted: bool) -> None: ...


class GuardPool:
    """Workers of the configuration that was accepted last.

    Args:
        read_source: reads the configuration; called at the start, and again when its file has changed.
        watched: the configuration's file.
        options: number of workers, and limits.
        measures: counts batches, replaced workers and changed configurations.
        journal: receives lines about the configuration and about faults.
        on_ready: called once the first workers are warm.
    """

    def __init__(
        self,
        read_source: ReadSource,
        watched: Watched,
        *,
        options: GroupOptions,
        measures: PoolMeasures,
        journal: Journal,
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._read_source = read_source
        self._watched = watched
        self._options = options
        self._measures = measures
        self._journal = journal
        self._on_ready = on_ready
        self._queue = RequestQueue()
        self._group: WorkerGroup | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether models are loaded."""
        return self._group is not None

    @property
    def evaluators(self) -> list[str]:
        """Return the ids of the evaluators."""
        return list(self._group.evaluators) if self._group is not None else []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start workers, check answers and watch the configuration until the context ends."""
        task = asyncio.create_task(self._open_and_watch())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            if self._group is not None:
                await self._group.close()
            self._journal.close()

    async def check(self, requests: Sequence[CheckRequest]) -> list[EncodedVerdict]:
        """Return the verdicts on answers.

        Raises:
            Busy: if too many answers wait.
            CheckTimeout: if the check was stopped.
            CheckLost: if the workers that checked it ended.
            CheckFailed: if the check raised an exception.
        """
        return list(await asyncio.gather(*self._queue.put(requests)))

    async def _open_and_watch(self) -> None:
        pause_s = FIRST_PAUSE_S
        while self._group is None:
            try:
                self._group = await self._opened()
            except (EvalStudioError, OSError) as exc:
                self._journal.fault("start", f"the guard cannot be opened, next try in {pause_s:g} s: {exc}")
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        self._on_ready()
        while True:
            await asyncio.sleep(WATCH_S)
            if await asyncio.to_thread(self._watched.has_changed):
                await self._reload()

    async def _opened(self) -> WorkerGroup:
        """Return a group that takes requests.

        Raises:
            EvalStudioError: if the configuration is wrong, or a worker cannot be started.
            OSError: if its files cannot be read.
        """
        source = await asyncio.to_thread(self._read_source)
        group = WorkerGroup(source, self._queue, self._options, self._measures, self._journal)
        await group.open()
        group.start()
        return group

    async def _reload(self) -> None:
        previous = self._group
        try:
            # The requests share one queue with the previous workers, which go on until the new ones are warm.
            self._group = await self._opened()
        except (EvalStudioError, OSError) as exc:
            self._measures.reloaded(accepted=False)
            self._journal.note(f"the changed configuration is refused, the earlier one stays in force: {exc}")
            return
        self._measures.reloaded(accepted=True)
        self._journal.note(f"the configuration was reloaded: {', '.join(self.evaluators)}")
        if previous is not None:
            await previous.retire()
