"""Batches of concurrent requests: all that wait when a worker is free are checked together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_evalstudio.contrib.guard.results import CheckRequest
from pytest_evalstudio.contrib.guard.worker_process import CheckTexts, EncodedVerdict

MAX_BATCH = 64
"""Answers of one batch."""
MAX_WAITING = 2000
"""Answers that may wait; more are refused."""
LONG_CHARS = 20_000
"""Longest question, context and answer, in sum, that share a batch with others."""
MAX_BATCH_CHARS = 200_000
"""Characters of one batch."""


class Busy(Exception):
    """Too many answers wait."""


@dataclass(eq=False, slots=True)
class PendingRequest:
    """A request that waits or is checked.

    Attributes:
        texts: to check.
        future: of its verdict.
        number: position by arrival.
        chars: sum of the lengths of its texts.
        tries: batches that ended with their worker.
    """

    texts: CheckTexts
    future: asyncio.Future[EncodedVerdict]
    number: int
    chars: int
    tries: int = 0

    @property
    def is_alone(self) -> bool:
        """Return True if it is checked alone: it may take long, or its last batch ended with the worker."""
        return self.chars > LONG_CHARS or self.tries > 0


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """Requests that are checked together."""

    entries: Sequence[PendingRequest]

    @property
    def is_alone(self) -> bool:
        """Return True for a single request that must not take all workers."""
        return self.entries[0].is_alone

    @property
    def texts(self) -> list[CheckTexts]:
        """Return what to check."""
        return [entry.texts for entry in self.entries]

    def finish(self, verdicts: Sequence[EncodedVerdict]) -> None:
        """Answer all requests."""
        for entry, verdict in zip(self.entries, verdicts, strict=True):
            if not entry.future.done():
                entry.future.set_result(verdict)

    def fail(self, error: Exception) -> None:
        """Answer all requests with an exception."""
        for entry in self.entries:
            if not entry.future.done():
                entry.future.set_exception(error)


@dataclass(eq=False)
class RequestQueue:
    """Requests that wait for a worker, in the order of their arrival.

    There is no waiting for a batch to fill: a lone request is checked at once, and those that arrive
    meanwhile make the next batch. A long request is a batch of its own.
    """

    _shared: deque[PendingRequest] = field(default_factory=deque)
    _alone: deque[PendingRequest] = field(default_factory=deque)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _count: int = 0

    def put(self, requests: Sequence[CheckRequest]) -> list[asyncio.Future[EncodedVerdict]]:
        """Add requests; return the futures of their verdicts.

        Raises:
            Busy: if too many answers wait; then none is added.
        """
        if len(self._shared) + len(self._alone) + len(requests) > MAX_WAITING:
            raise Busy
        futures = []
        for request in requests:
            texts = CheckTexts(request.question, tuple(request.context), request.answer)
            chars = len(texts.question) + sum(map(len, texts.context)) + len(texts.answer)
            self._count += 1
            entry = PendingRequest(texts, asyncio.get_running_loop().create_future(), self._count, chars)
            (self._alone if entry.is_alone else self._shared).append(entry)
            futures.append(entry.future)
        self.wake()
        return futures

    def put_back(self, batch: RequestBatch) -> None:
        """Add the requests of a batch again; each is then checked alone."""
        for entry in reversed(batch.entries):
            entry.tries += 1
            self._alone.appendleft(entry)
        self.wake()

    def take(self, *, allows_alone: bool) -> RequestBatch | None:
        """Return the next batch, None if there is none.

        Args:
            allows_alone: whether it may be a request that is checked alone.
        """
        for waiting in (self._shared, self._alone):
            # A request whose client waits no more is done already: its future was cancelled at the time
            # limit.
            while waiting and waiting[0].future.done():
                waiting.popleft()
        # By arrival: without it, long requests would wait until no short ones come.
        is_first = bool(self._alone) and (not self._shared or self._alone[0].number < self._shared[0].number)
        if allows_alone and is_first:
            return RequestBatch([self._alone.popleft()])
        entries: list[PendingRequest] = []
        chars = 0
        while self._shared and len(entries) < MAX_BATCH:
            entry = self._shared[0]
            if chars + entry.chars > MAX_BATCH_CHARS:
                break
            self._shared.popleft()
            if not entry.future.done():
                entries.append(entry)
                chars += entry.chars
        return RequestBatch(entries) if entries else None

    def wake(self) -> None:
        """Let all that wait for a change look again."""
        self._changed.set()

    async def changed(self) -> None:
        """Wait for a change after now."""
        self._changed.clear()
        await self._changed.wait()
