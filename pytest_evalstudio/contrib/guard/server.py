"""The server: accepts no more connections than there are descriptors for."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

import uvicorn

from pytest_evalstudio.contrib.guard.connections import (
    CloseReason,
    ConnectionLimits,
    ConnectionRegistry,
    LimitedProtocol,
)
from pytest_evalstudio.contrib.guard.journal import Journal

BACKLOG = 2048
"""Connections that wait in the kernel until they are accepted."""
RESERVED_DESCRIPTORS = 64
"""Descriptors for files, the pipes of workers and connections that are just being closed."""
_BURST = 32
"""Connections that are accepted before others are served."""
_RETRY_S = 0.1


def connection_cap(max_connections: int) -> int:
    """Return how many connections may be open, after raising the soft limit of descriptors where allowed.

    Args:
        max_connections: upper limit.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return max_connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    required = max_connections + RESERVED_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= required:
        return max_connections
    raised = required if hard == resource.RLIM_INFINITY else min(hard, required)
    with contextlib.suppress(OSError, ValueError):  # some systems and sandboxes refuse it
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    return max(1, min(max_connections, soft - min(RESERVED_DESCRIPTORS, soft // 2)))


class GuardServer(uvicorn.Server):
    """A server that accepts connections itself, up to a cap.

    At the cap, the oldest connection without a complete request is closed for each new one. If all have
    running requests, new ones wait in the kernel. The loop of asyncio would accept without limit, and write
    a traceback for each try once there is no descriptor left.

    Args:
        config: of the server.
        listening: bound socket.
        limits: of connections.
        journal: receives lines about faults.
        on_closed: called with the reason when a limit closes a connection.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        listening: socket.socket,
        *,
        limits: ConnectionLimits,
        journal: Journal,
        on_closed: Callable[[CloseReason], None] = lambda reason: None,
    ) -> None:
        super().__init__(config)
        self._listening = listening
        self._limits = limits
        self._journal = journal
        self._on_closed = on_closed
        self._connecting: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # The base class starts the lifespan, and opens no socket of its own.
        await super().startup(sockets=[])
        self._change = asyncio.Event()
        self._table = ConnectionRegistry(self._change.set, self._closed)
        self._listening.setblocking(False)
        self._listening.listen(BACKLOG)
        self._accepting = asyncio.create_task(self._accept_all())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._accepting
        self._listening.close()
        # Connections that are being made are not yet among those that the base class closes.
        if self._connecting:
            await asyncio.wait(self._connecting)
        await super().shutdown(sockets=[])

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        accepted = 0
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listening)
            # The client has left before it was accepted: no fault of the service.
            except ConnectionAbortedError:
                continue
            except OSError as exc:
                fact = exc.strerror or type(exc).__name__
                self._journal.fault("accept", f"a connection cannot be accepted: {fact}")
                # Most likely no descriptor is left.
                self._close_oldest()
                await asyncio.sleep(_RETRY_S)
                continue
            try:
                await self._make_room()
            except asyncio.CancelledError:
                connection.close()
                raise
            task = asyncio.create_task(self._connect(connection))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)
            accepted += 1
            if accepted % _BURST == 0:
                await asyncio.sleep(0)

    async def _make_room(self) -> None:
        while len(self.server_state.connections) + len(self._connecting) >= self._limits.count:
            self._change.clear()
            if self._connecting:  # their age is not known yet
                await asyncio.sleep(0)
                continue
            self._close_oldest()
            await self._change.wait()

    async def _connect(self, connection: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        except OSError:
            connection.close()

    def _protocol(self) -> LimitedProtocol:
        return LimitedProtocol(
            self.config, self.server_state, self.lifespan.state, limits=self._limits, table=self._table
        )

    def _close_oldest(self) -> None:
        connection = self._table.oldest_closable()
        if connection is not None:
            connection.close_for(CloseReason.ROOM)

    def _closed(self, reason: CloseReason) -> None:
        self._on_closed(reason)
        if reason is CloseReason.ROOM:
            self._journal.fault(
                "room",
                f"all {self._limits.count} connections are in use; for a new one, the oldest without a"
                " running request is closed",
            )
