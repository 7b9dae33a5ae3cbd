"""Spans of the running test, kept by their trace until the answer to its question is complete."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from pytest_evalstudio.core.tracing import SpanStatus
from pytest_evalstudio.traces.spans import Event, Span

MAX_SPANS = 20_000
"""Maximum number of spans of one question."""
MAX_TRACE_BYTES = 50_000_000
"""Maximum size of the spans of one question, as they were received."""
MAX_BYTES = 500_000_000
"""Maximum size of all spans that wait for their question."""
MAX_DONE = 50_000
"""Number of traces that are remembered, to tell late spans from those of other applications."""
QUIET_S = 0.3
"""Time without a further span after which a trace without a server's span is complete."""
SILENT_QUESTIONS = 3
"""Questions without any span after which no question waits any more, until a span arrives."""


class CollectedSpans(Struct, frozen=True, kw_only=True):
    """Spans of a question.

    Attributes:
        lost: number of spans beyond the limits.
    """

    spans: tuple[Span, ...] = ()
    status: SpanStatus = "missing"
    lost: int = 0

    def and_of(self, other: CollectedSpans) -> CollectedSpans:
        """Return these spans with those that arrived elsewhere."""
        if not other.spans:
            return self
        status = other.status if not self.spans or self.status == "complete" else self.status
        return CollectedSpans(spans=(*self.spans, *other.spans), status=status, lost=self.lost + other.lost)


class SpanSource(Protocol):
    """Gives the spans of questions."""

    def collect(self, trace_id: str, parents: Collection[str], wait_s: float) -> CollectedSpans:
        """Wait until the spans of a trace have arrived, and take them.

        Args:
            parents: ids of the spans that the requests of the question named as their parent.
            wait_s: seconds to wait at most.
        """
        ...


@dataclass(slots=True)
class _Arrivals:
    """Spans of a trace that have arrived.

    Attributes:
        running: spans in this process that have begun and not ended.
        is_remote: whether spans came from another process, of which nobody knows whether more will come.
    """

    spans: dict[str, Span] = field(default_factory=dict)
    events: dict[str, list[Event]] = field(default_factory=dict)
    size: int = 0
    lost: int = 0
    running: int = 0
    is_remote: bool = False
    last: float = 0.0

    def is_connected(self, parents: Collection[str]) -> bool:
        """Return whether a span below the requests has arrived, and no span lacks its parent."""
        return any(span.parent in parents for span in self.spans.values()) and all(
            not span.parent or span.parent in self.spans or span.parent in parents
            for span in self.spans.values()
        )

    def has_server(self, parents: Collection[str]) -> bool:
        """Return whether the span of the server that got the request is there; it ends last."""
        return any(span.is_server and span.parent in parents for span in self.spans.values())

    def collected(self, status: SpanStatus) -> CollectedSpans:
        for id, events in self.events.items():
            if id in self.spans:
                self.spans[id] = replace(self.spans[id], events=(*self.spans[id].events, *events))
        spans = sorted(self.spans.values(), key=lambda span: span.started_s or 0.0)
        return CollectedSpans(spans=tuple(spans), status=status, lost=self.lost)


class SpanStore:
    """Spans by trace. Threads add to it, and wait for it.

    Args:
        prefix: hexadecimal begin of the ids of all traces of the run; spans of others are not kept.
        receives: whether spans may come from other processes.

    Attributes:
        late: spans that came after their answer was complete.
        foreign: spans of other traces.
        silent: questions without any span.
    """

    def __init__(self, prefix: str, *, receives: bool) -> None:
        self._prefix = prefix
        self._receives = receives
        self._changed = threading.Condition()
        self._traces: dict[str, _Arrivals] = {}
        # A dictionary as a set with an order, since the oldest traces are forgotten first.
        self._done: dict[str, None] = {}
        self._size = 0
        self._silent = 0
        self.late = 0
        self.foreign = 0
        self.silent = 0

    @property
    def is_full(self) -> bool:
        """Return whether too much waits for its question."""
        return self._size >= MAX_BYTES

    def begin(self, trace_id: str) -> None:
        """Note that a span has begun in this process."""
        with self._changed:
            arrivals = self._arrivals(trace_id)
            if arrivals is not None:
                arrivals.running += 1

    def end(self, trace_id: str, span: Span) -> None:
        """Add a span of this process, which has ended."""
        with self._changed:
            arrivals = self._arrivals(trace_id, ended=1)
            if arrivals is not None:
                arrivals.running -= 1
                self._put(arrivals, span, 0)
                self._changed.notify_all()

    def add(self, spans: Iterable[tuple[str, Span, int]]) -> int:
        """Add spans of other processes, each with the id of its trace and its size in bytes.

        Returns:
            The number of spans that are beyond the limits of their traces, and were not added.
        """
        lost = 0
        with self._changed:
            for trace_id, span, size in spans:
                arrivals = self._arrivals(trace_id, ended=1)
                if arrivals is None:
                    continue
                arrivals.is_remote = True
                lost += not self._put(arrivals, span, size)
            self._changed.notify_all()
        return lost

    def add_events(self, events: Iterable[tuple[str, str, Event, int]]) -> None:
        """Add log records, each with the ids of its trace and span, and its size."""
        with self._changed:
            for trace_id, span_id, event, size in events:
                arrivals = self._arrivals(trace_id)
                if arrivals is not None and self._fits(arrivals, size):
                    arrivals.events.setdefault(span_id, []).append(event)
            self._changed.notify_all()

    def collect(self, trace_id: str, parents: Collection[str], wait_s: float) -> CollectedSpans:
        """Wait until the spans of a trace have arrived, and take them; see `SpanSource`."""
        end = time.monotonic() + wait_s
        with self._changed:
            while True:
                pause_s = self._pause_s(self._traces.get(trace_id), parents)
                left_s = end - time.monotonic()
                if pause_s == 0 or left_s <= 0:
                    break
                self._changed.wait(left_s if pause_s is None else min(left_s, pause_s))
            arrivals = self._traces.pop(trace_id, None)
            self._done[trace_id] = None
            if len(self._done) > MAX_DONE:
                del self._done[next(iter(self._done))]
            if arrivals is None or not arrivals.spans:
                self._silent += 1
                self.silent += 1
                return CollectedSpans()
            self._size -= arrivals.size
            is_whole = pause_s == 0 and not arrivals.lost and arrivals.is_connected(parents)
        return arrivals.collected("complete" if is_whole else "incomplete")

    def _pause_s(self, arrivals: _Arrivals | None, parents: Collection[str]) -> float | None:
        """Return how long to wait, 0 for no longer; None to wait for the next span."""
        if arrivals is None or not (arrivals.spans or arrivals.running):
            return None if self._receives and self._silent < SILENT_QUESTIONS else 0
        if arrivals.running:
            return None
        if not arrivals.is_remote:
            return 0
        if not arrivals.is_connected(parents):
            return None
        if arrivals.has_server(parents):
            return 0
        return max(0.0, arrivals.last + QUIET_S - time.monotonic())

    def _arrivals(self, trace_id: str, *, ended: int = 0) -> _Arrivals | None:
        """Return the entry of a trace, None for one that is not awaited.

        Args:
            ended: spans to count where it is not awaited.
        """
        arrivals = self._traces.get(trace_id)
        if arrivals is None and trace_id.startswith(self._prefix) and trace_id not in self._done:
            arrivals = self._traces[trace_id] = _Arrivals()
        if arrivals is None:
            if trace_id in self._done:
                self.late += ended
            else:
                self.foreign += ended
        return arrivals

    def _put(self, arrivals: _Arrivals, span: Span, size: int) -> bool:
        """Add a span; return False if it is beyond the limits."""
        self._silent = 0
        arrivals.last = time.monotonic()
        if len(arrivals.spans) >= MAX_SPANS or not self._fits(arrivals, size):
            arrivals.lost += 1
            return False
        arrivals.spans.setdefault(span.id, span)  # an exporter repeats what it got no answer to
        return True

    def _fits(self, arrivals: _Arrivals, size: int) -> bool:
        if arrivals.size + size > MAX_TRACE_BYTES:
            return False
        arrivals.size += size
        self._size += size
        return True
