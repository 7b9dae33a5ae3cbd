"""Connection to a server of the Model Context Protocol, which one task opens and closes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts import _mcp_relay
from pytest_evalstudio.hosts._connected import send_traceparent
from pytest_evalstudio.hosts._faults import innermost, quoted
from pytest_evalstudio.hosts._malformed import connection_fault
from pytest_evalstudio.metrics.detectors import redact

_LOG_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Address of a server: a program that is started, or a URL.

    Attributes:
        command: program and arguments; () for a URL.
        folder: working directory of the program.
        http_options: arguments of the HTTP client.
    """

    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    http_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.url or self.command[0]


def _program(address: ServerAddress) -> str:
    """Return the path of a server's program, which the relay starts.

    Raises:
        OSError: if there is no such program, or it cannot be run.
    """
    name = address.command[0]
    if os.path.dirname(name):
        path = os.path.join(address.folder, name)
        error: int | None = None
        if not os.access(path, os.X_OK):
            error = errno.EACCES if os.path.exists(path) else errno.ENOENT
    else:
        path = shutil.which(name, path=address.env.get("PATH")) or name
        error = errno.ENOENT if path == name else None
    if error is not None:
        raise OSError(error, os.strerror(error))
    return path


class ServerConnection:
    """An open client of a server.

    The client's task groups must be left by the task that entered them, so that a task of their own holds
    the client; requests come from any task of the same loop.

    Args:
        mask: removes secrets from messages.

    Attributes:
        is_broken: whether a request found that the server ended the connection.
    """

    def __init__(self, address: ServerAddress, mask: Callable[[str], str]) -> None:
        self._address = address
        self._mask = mask
        self.is_broken = False
        self._closing = asyncio.Event()
        self._client: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  (closed below)
        self._task = asyncio.create_task(self._hold())

    async def client(self) -> Any:
        """Return the client once it is connected.

        Raises:
            HostFault: if the server cannot be started or reached.
        """
        return await asyncio.shield(self._client)

    @property
    def is_open(self) -> bool:
        return not (self.is_broken or self._task.done())

    async def close(self) -> None:
        """End the connection, and the program."""
        self._closing.set()
        if not self._client.done():
            self._task.cancel()  # it waits for a program that does not speak the protocol
        await asyncio.gather(self._task, return_exceptions=True)
        self._log.close()

    async def _hold(self) -> None:
        try:
            async with contextlib.AsyncExitStack() as stack:
                client = await stack.enter_async_context(await self._new_client(stack))
                self._client.set_result(client)
                await self._closing.wait()
        except Exception as exc:
            if not self._client.done():
                self._client.set_exception(self._fault(exc))
                self._client.exception()  # nobody may be waiting any more
        finally:
            self._client.cancel()

    async def _new_client(self, stack: contextlib.AsyncExitStack) -> Any:
        import logging

        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        # Without a handler, logging prints a traceback for each line that is no message of the protocol.
        logger = logging.getLogger("mcp")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        address = self._address
        if not address.url:
            # Isolated, so that the relay imports nothing from the folder of the server.
            server = StdioServerParameters(
                command=sys.executable,
                args=["-I", _mcp_relay.__file__, _program(address), *address.command[1:]],
                env=dict(address.env) or None,
                cwd=address.folder,
            )
            return Client(stdio_client(server, errlog=self._log))
        import httpx2

        http = await stack.enter_async_context(
            httpx2.AsyncClient(
                headers=dict(address.headers),
                follow_redirects=False,
                event_hooks={"request": [send_traceparent]},
                **address.http_options,
            )
        )
        return Client(streamable_http_client(address.url, http_client=http))

    def relayed_note(self) -> str:
        """Return the last note of the relay, as the end of a sentence; "" for none."""
        notes = [line for line in self._last_lines() if line.startswith(_mcp_relay.NOTE)]
        return f": {quoted(notes[-1].removeprefix(_mcp_relay.NOTE), self._mask)}" if notes else ""

    def _last_lines(self) -> list[str]:
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4 * _LOG_CHARS))
        return redact(self._log.read()).strip()[-_LOG_CHARS:].splitlines()

    def _fault(self, exc: Exception) -> HostFault:
        address = self._address
        if address.url:
            return connection_fault(address.url, exc, self._mask)
        if isinstance(exc, FileNotFoundError | PermissionError):
            reason = quoted(exc.strerror or "", self._mask)
            return HostFault(f"cannot start {address.command[0]!r}: {reason}; check command")
        lines = "\n".join(self._last_lines())
        last = f"; it wrote: {quoted(lines, self._mask)}" if lines else ""
        return HostFault(
            f"{address.command[0]!r} does not speak the Model Context Protocol:"
            f" {innermost(exc, self._mask)}{last}; check command and args"
        )
