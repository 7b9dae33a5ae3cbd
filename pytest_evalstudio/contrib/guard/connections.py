"""HTTP connections with time limits, so that a client that sends or reads nothing does not keep one."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState


class CloseReason(enum.StrEnum):
    """Reason for which the service closes a connection; a label of its metrics."""

    HEADERS = "headers"
    UNREAD = "unread"
    ROOM = "room"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Limits of connections.

    Attributes:
        count: that may be open.
        header_s: seconds in which the headers of each request must arrive.
        reading_s: seconds for which a client may leave a response unread.
    """

    count: int
    header_s: float = 10.0
    reading_s: float = 10.0


class Phase(enum.Enum):
    """Phase of a connection."""

    RECEIVING = "receiving"
    RUNNING = "running"
    IDLE = "idle"
    CLOSING = "closing"


class ConnectionRegistry:
    """Open connections by phase, the oldest of each first.

    Args:
        on_change: called when a connection has ended, or may be closed for another one.
        on_closed: called with the reason when a limit closes a connection.
    """

    def __init__(self, on_change: Callable[[], None], on_closed: Callable[[CloseReason], None]) -> None:
        self._on_change = on_change
        self.on_closed = on_closed
        self._by_phase: dict[Phase, dict[LimitedProtocol, None]] = {phase: {} for phase in Phase}

    def move(self, connection: LimitedProtocol, previous: Phase | None, phase: Phase | None) -> None:
        """Register the change of a phase; None before a connection and after it."""
        if previous is not None:
            self._by_phase[previous].pop(connection, None)
        if phase is not None:
            self._by_phase[phase][connection] = None
        if phase is not Phase.RUNNING:
            self._on_change()

    def oldest_closable(self) -> LimitedProtocol | None:
        """Return the connection to close for a new one, None if all of them have running requests.

        Connections without a complete request come first, idle ones last.
        """
        for phase in (Phase.RECEIVING, Phase.CLOSING, Phase.IDLE):
            for connection in self._by_phase[phase]:
                return connection
        return None


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for headers and for unread responses.

    It is based on h11, and not on httptools, because h11 also limits the size of headers.

    Args:
        config: of the server.
        server_state: of the server, with all open connections.
        app_state: of the application's lifespan.
        limits: time limits.
        table: of all open connections.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        limits: ConnectionLimits,
        table: ConnectionRegistry,
    ) -> None:
        super().__init__(config=config, server_state=server_state, app_state=app_state)
        self._table = table
        self._phase: Phase | None = None
        self._limits = limits
        self._header_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None

    def close_for(self, reason: CloseReason) -> None:
        """Close the connection at once, without waiting for the client."""
        self._table.on_closed(reason)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_headers()
        self._register()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._has_request or self.transport.is_closing():
            self._stop_header_timer()
        # A timer that runs is not begun again: a client could send one byte at a time.
        elif self._header_timer is None:
            self._expect_headers()
        self._register()

    def on_response_complete(self) -> None:
        # A request that the client sent in advance is handled by the base class, which begins a new cycle.
        super().on_response_complete()
        self._register()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        self._stop_reading_timer()
        super().connection_lost(exc)
        self._table.move(self, self._phase, None)
        self._phase = None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading_timer is None:
            # Reading a part does not extend it: the buffer must drain in this time.
            self._reading_timer = self.loop.call_later(
                self._limits.reading_s, self.close_for, CloseReason.UNREAD
            )

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_reading_timer()

    def timeout_keep_alive_handler(self) -> None:
        # A closed transport waits for a client that does not read the end of a response.
        if self.transport.get_write_buffer_size():
            self.close_for(CloseReason.UNREAD)
        else:
            super().timeout_keep_alive_handler()

    def _register(self) -> None:
        """Register the phase; a connection that stays in it keeps its age."""
        phase = self._current_phase()
        if phase is not self._phase:
            previous, self._phase = self._phase, phase
            self._table.move(self, previous, phase)

    def _current_phase(self) -> Phase:
        if self.transport.is_closing():
            return Phase.CLOSING
        if not self._has_request:
            return Phase.RECEIVING if self._header_timer is not None else Phase.IDLE
        return Phase.RECEIVING if self.cycle.more_body else Phase.RUNNING

    @property
    def _has_request(self) -> bool:
        """Return True if the headers of a request have arrived and its response is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_headers(self) -> None:
        self._header_timer = self.loop.call_later(self._limits.header_s, self.close_for, CloseReason.HEADERS)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _stop_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None
