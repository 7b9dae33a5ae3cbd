"""A collector that hangs, trickles or floods holds no run, and what it sends is bounded."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from pytest_evalstudio.traces.otel import channel, sending

REQUESTS = [(b"{}", 1)]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Answer = Callable[[socket.socket], None]


@contextlib.contextmanager
def collector(answer: Answer) -> Iterator[str]:
    """Answer each connection by a function in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        def handle(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                connection.recv(65_536)
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            # Without it, the thread would go on to accept connections of whatever gets the descriptor next.
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def hang(connection: socket.socket) -> None:
    while connection.recv(65_536):  # until the client gives up
        pass


def trickle_headers(connection: socket.socket) -> None:
    for byte in HEAD * 100:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def trickle_body(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
    for _ in range(10_000):
        connection.sendall(b" ")
        time.sleep(0.02)


def flood(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"Content-Length: 500000000\r\n\r\n")
    for _ in range(500):
        connection.sendall(b" " * 1_000_000)


@pytest.mark.parametrize("answer", [hang, trickle_headers, trickle_body])
def test_a_slow_collector_is_given_up(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "REQUEST_S", 0.3)
    monkeypatch.setattr(channel, "_ATTEMPTS", 2)
    with collector(answer) as url, pytest.raises(sending.NotSent, match=r"did not answer within 0\.3 s"):
        sending.send(url, REQUESTS)


def test_a_flood_is_read_no_further() -> None:
    with collector(flood) as url, pytest.raises(sending.NotSent, match="more than 1,000,000 bytes"):
        sending.send(url, REQUESTS)
