"""Proxy between a client of the Model Context Protocol and the program of a server, over standard streams."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import IO

from pytest_evalstudio.contrib.tool_proxy.exchange import (
    INVALID,
    Mediator,
    Reply,
    Settings,
    error_message,
    read_message,
)
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.hosts._mcp_relay import MAX_LINE_BYTES

MAX_NOTES = 3
GRACE_S = 5.0
"""Seconds in which a server may end after its input has ended."""


class StdioProxy:
    """Serves one client.

    Args:
        command: program of the server and its arguments; () where a replay needs none.
        settings: of the proxy.
        source: messages of the client.
        target: messages to the client.

    Raises:
        ConfigurationError: if the program cannot be started.
    """

    def __init__(
        self, command: Sequence[str], settings: Settings, source: IO[bytes], target: IO[bytes]
    ) -> None:
        self._settings = settings
        self._mediator = Mediator(settings)
        self._source = source
        self._target = target
        self._deciding = threading.Lock()
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._stray_lines = 0
        self._server = _started(command) if command else None

    def run(self) -> bool:
        """Pass on messages until the client or the server ends.

        Returns:
            Whether the server was there until the client ended.
        """
        reader = threading.Thread(target=self._read_client, daemon=True)
        if self._server is None:
            reader.start()
            self._ended.wait()
            return True
        signal.signal(signal.SIGTERM, lambda *_: self._ended.set())
        answers = threading.Thread(target=self._read_server, args=(self._server,), daemon=True)
        answers.start()
        reader.start()
        self._ended.wait()
        # The last replies of a server whose input has ended.
        return _ended(self._server, answers)

    def _read_client(self) -> None:
        try:
            for line in _lines(self._source, self._settings, "client"):
                self._from_client(line)
        except OSError:  # the server has gone, which its reader notices as well
            pass
        finally:
            self._close_server_input()
            self._ended.set()

    def _from_client(self, line: bytes) -> None:
        message = read_message(line)
        if message is None:
            text = "the proxy takes single messages of JSON-RPC; send no batch"
            self._send(error_message(None, INVALID, text))
            return
        with self._deciding:
            reply = self._mediator.from_client(message)
        if reply is not None:
            self._reply(reply)
        elif self._server is not None and self._server.stdin is not None:
            self._server.stdin.write(line)
            self._server.stdin.flush()

    def _reply(self, reply: Reply) -> None:
        if not reply.wait_s:
            self._send(reply.message)
            return
        timer = threading.Timer(reply.wait_s, self._send, args=(reply.message,))
        timer.daemon = True
        timer.start()

    def _read_server(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdout is not None
        try:
            for line in _lines(server.stdout, self._settings, "server"):
                message = read_message(line)
                if message is None:  # also a batch, in which a server could hide a reply
                    self._note_stray()
                    continue
                with self._deciding:
                    reply = self._mediator.from_server(line, message)
                self._send(reply)
        finally:
            self._ended.set()

    def _note_stray(self) -> None:
        self._stray_lines += 1
        if self._stray_lines <= MAX_NOTES:
            self._settings.note("the server wrote a line that is no message; it is left out")

    def _send(self, line: bytes) -> None:
        with self._writing:
            try:
                self._target.write(line if line.endswith(b"\n") else line + b"\n")
                self._target.flush()
            except OSError:  # the client has gone
                self._ended.set()

    def _close_server_input(self) -> None:
        if self._server is not None and self._server.stdin is not None:
            with contextlib.suppress(OSError):
                self._server.stdin.close()


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        # Its standard error is the proxy's: the client reads or keeps it as it would without the proxy.
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as exc:
        raise ConfigurationError(f"{command[0]}: {exc.strerror}; name the program of an MCP server") from None


def _ended(server: subprocess.Popen[bytes], answers: threading.Thread) -> bool:
    """End a server, and return whether it was still there."""
    is_alive = server.poll() is None
    try:
        server.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        server.terminate()
        try:
            server.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    answers.join(GRACE_S)
    return is_alive or server.returncode == 0


def _lines(source: IO[bytes], settings: Settings, name: str) -> Iterator[bytes]:
    """Yield lines up to one that is too long, which ends the session."""
    while line := source.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            settings.note(f"the {name} wrote a line of more than {MAX_LINE_BYTES:,} bytes; the session ends")
            return
        if line.strip():
            yield line
