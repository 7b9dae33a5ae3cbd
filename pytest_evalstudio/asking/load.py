"""Load on a service: the requests at the same time and their pace, for all models of a connection."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakValueDictionary

from pytest_evalstudio.asking.limits import Limits

MIN_SPACING_S, MAX_SPACING_S = 0.25, 30.0
"""Seconds between requests to a service that refuses their rate: the least that helps, and two a minute."""
HALVING_S = 1.0
"""Refusals within this time after the limit was halved do not halve it again."""


class Load:
    """Slots and pace of the requests to a service."""

    def __init__(self, limits: Limits) -> None:
        self.slots = Slots(limits.concurrency)
        self.pace = Pace(limits.requests_per_minute)

    def answered(self) -> None:
        """Count an answer, which raises lowered limits."""
        self.slots.answered()
        self.pace.answered()


# Weak values, so that a load ends with the last model that has it.
_shared: WeakValueDictionary[tuple[str, str, int, float | None], Load] = WeakValueDictionary()
_sharing = threading.Lock()


def load_of(connection: str, folder: str, limits: Limits) -> Load:
    """Return the load of a model: that of its connection, shared with the other models of this process.

    Models with limits of their own share it with those that have the same.

    Args:
        connection: name of the connection, "" for a model without one.
        folder: of the configuration.
    """
    if not connection:
        return Load(limits)
    key = (connection, folder, limits.concurrency, limits.requests_per_minute)
    with _sharing:
        load = _shared.get(key)
        if load is None:
            load = _shared[key] = Load(limits)
        return load


class Pace:
    """Spreads requests evenly over the minute, and stops all of them while the service asks to wait.

    A service that refuses the rate of the requests without saying how long to wait is asked less often: the
    time between two requests doubles with each refusal, and halves with each answer. Many services count
    refused requests too, so that waiting per question would never end.

    It serves several event loops, which the limiters for asyncio do not.
    """

    def __init__(self, requests_per_minute: float | None) -> None:
        self._interval_s = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._spacing_s = 0.0
        self._slowed_at = -math.inf
        self._next_start = 0.0
        self._paused_until = 0.0
        self._lock = threading.Lock()

    async def turn(self) -> None:
        """Wait until the next request may start."""
        # Another request may prolong the pause in the meantime.
        while (wait_s := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)
        if self._interval_s or self._spacing_s:
            with self._lock:
                start = max(time.monotonic(), self._next_start)
                self._next_start = start + max(self._interval_s, self._spacing_s)
            await asyncio.sleep(max(0.0, start - time.monotonic()))

    def pause(self, seconds: float) -> None:
        """Let no request start for that many seconds."""
        with self._lock:
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def slow_down(self) -> None:
        """Double the time between requests; the refusals of requests that run at the same time count once."""
        now = time.monotonic()
        with self._lock:
            if now - self._slowed_at >= HALVING_S:
                self._slowed_at = now
                self._spacing_s = min(MAX_SPACING_S, max(MIN_SPACING_S, 2 * self._spacing_s))
                # Requests that wait already keep their start; the next one to ask gets the new spacing.
                self._next_start = max(self._next_start, now + self._spacing_s)

    def answered(self) -> None:
        """Count an answer, after which the next request may start sooner."""
        with self._lock:
            self._spacing_s = self._spacing_s / 2 if self._spacing_s > MIN_SPACING_S else 0.0


class Slots:
    """Limits the requests at the same time; a free slot goes to the waiting request of the lowest priority.

    asyncio.Semaphore is first come, first served, which would begin all judgements before it ends one; and it
    belongs to one event loop, while the models of a connection have one each.

    The limit adapts to the service: it is halved when the service is asked too much, and raised by one for
    as many answers as there are slots, up to where it began (additive increase, multiplicative decrease).
    """

    def __init__(self, slots: int) -> None:
        self.limit = slots
        self._max = slots
        self._busy = 0
        self._answers = 0
        self._halved_at = -math.inf
        self._waiting: list[tuple[int, int, Future[None]]] = []
        self._order = itertools.count()
        self._lock = threading.RLock()

    @asynccontextmanager
    async def slot(self, priority: int = 0) -> AsyncIterator[None]:
        """Hold a slot while the context lasts."""
        turn = self._enter(priority)
        if turn is not None:
            try:
                await asyncio.wrap_future(turn)
            except asyncio.CancelledError:
                if not turn.cancel():  # it was this request's turn already
                    self._release()
                raise
        try:
            yield
        finally:
            self._release()

    def drop_waiting(self) -> None:
        """Cancel the requests that wait for a slot; those that have one go on."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for _, _, turn in waiting:
            turn.cancel()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Give no slot to a waiting request while the context lasts, even if one becomes free."""
        with self._lock:
            yield

    def throttled(self) -> None:
        """Halve the limit; the refusals of requests that run at the same time count once."""
        now = time.monotonic()
        with self._lock:
            if now - self._halved_at >= HALVING_S:
                self._halved_at = now
                self._answers = 0
                self.limit = max(1, self.limit // 2)

    def answered(self) -> None:
        """Count an answer, which may raise a lowered limit."""
        with self._lock:
            if self.limit < self._max:
                self._answers += 1
                if self._answers >= self.limit:
                    self._answers = 0
                    self.limit += 1
                    self._wake()

    def _enter(self, priority: int) -> Future[None] | None:
        """Take a slot and return None, or return what is done when one is free."""
        with self._lock:
            if self._busy < self.limit and not self._waiting:
                self._busy += 1
                return None
            turn: Future[None] = Future()
            # The number keeps the order of equal priorities, and futures from being compared.
            heapq.heappush(self._waiting, (priority, next(self._order), turn))
            return turn

    def _release(self) -> None:
        with self._lock:
            self._busy -= 1
            self._wake()

    def _wake(self) -> None:
        while self._waiting and self._busy < self.limit:
            turn = heapq.heappop(self._waiting)[2]
            # False for a request that was cancelled while it waited.
            if turn.set_running_or_notify_cancel():
                self._busy += 1
                turn.set_result(None)
