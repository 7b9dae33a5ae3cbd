"""Connections of the service: slow clients, a low limit of descriptors, and what is written about them."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from pytest_evalstudio.contrib.guard.connections import ConnectionLimits
from pytest_evalstudio.contrib.guard.server import RESERVED_DESCRIPTORS, connection_cap
from support.children import LONGEST_WAIT_S, Children, wait_until
from support.guard_server import Serving, configure, guard_service, serving

SECRET = "the-passphrase-is-swordfish"
HALF_HEADERS = f"GET /healthz HTTP/1.1\r\nHost: x\r\nX-{SECRET}: ".encode()
HALF_BODY = b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=LONGEST_WAIT_S)


def answers(connection: socket.socket) -> bool:
    """Read one answer of /healthz; return False if the connection is closed before."""
    content = b""
    while not content.endswith(b'{"status":"ok"}'):
        part = connection.recv(1000)
        if not part:
            return False
        content += part
    return content.startswith(b"HTTP/1.1 200")


def is_closed(connection: socket.socket) -> bool:
    """Return True once the service has closed the connection; waits for that, or for bytes."""
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


def limit_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


@pytest.mark.slow
def test_unfinished_headers_do_not_exhaust_the_descriptors(tmp_path: Path, children: Children) -> None:
    process, url = guard_service(tmp_path, children, "--workers", "1", prepare=limit_descriptors)
    with ExitStack() as stack, httpx.Client(base_url=url, timeout=LONGEST_WAIT_S) as client:
        for number in range(500):
            connection = stack.enter_context(connected(url))
            connection.sendall(HALF_HEADERS)
            if number % 20 == 0:
                assert client.get("/healthz").status_code == 200
                assert httpx.get(f"{url}/healthz", timeout=LONGEST_WAIT_S).status_code == 200
        for _ in range(200):
            with connected(url) as connection:
                connection.sendall(f"{SECRET}\r\n\r\n".encode())
                assert not is_closed(connection), "the answer is an error"
        assert client.post("/v1/check", json={"answer": "fine"}).json()["verdict"] == "reliable"
        closed = 'connections_closed_total{reason="room"}'
        assert closed in client.get("/metrics").text
    assert not process.has_ended
    assert "at most 192 connections" in process.err
    assert len(process.err) < 2000
    assert SECRET not in process.err


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return configure(tmp_path_factory.mktemp("guard") / "guardrails.json", "pii_leakage")


@pytest.fixture(scope="module")
def hurried(file: Path) -> Iterator[Serving]:
    """A service with short time limits."""
    with serving(file, connections=ConnectionLimits(count=100, header_s=0.5, reading_s=0.5)) as service:
        yield service


@pytest.fixture(scope="module")
def small(file: Path) -> Iterator[Serving]:
    """A service for four connections."""
    with serving(file, connections=ConnectionLimits(count=4)) as service:
        yield service


def test_headers_have_a_time_limit(hurried: Serving) -> None:
    closed = hurried.figure('connections_closed_total{reason="headers"}')
    with connected(hurried.url) as silent, connected(hurried.url) as second:
        second.sendall(WHOLE)
        assert answers(second)
        second.sendall(HALF_HEADERS)
        assert is_closed(silent)
        assert is_closed(second)
    assert hurried.figure('connections_closed_total{reason="headers"}') == closed + 2


def test_bytes_that_trickle_do_not_extend_the_limit_of_headers(hurried: Serving) -> None:
    def is_refused() -> bool:
        try:
            return trickling.send(b"x") != 1
        except OSError:
            return True

    with connected(hurried.url) as trickling:
        trickling.sendall(HALF_HEADERS)
        wait_until(is_refused, "end of the connection")


def test_an_idle_connection_outlives_the_limit_of_headers(hurried: Serving) -> None:
    with connected(hurried.url) as idle:
        idle.sendall(WHOLE)
        assert answers(idle)
        with connected(hurried.url) as second_connection:
            assert is_closed(second_connection), "a later connection has reached the limit"
        idle.sendall(WHOLE)
        assert answers(idle)


def test_a_client_that_does_not_read_is_closed(hurried: Serving) -> None:
    request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with connected(hurried.url) as connection:
        with pytest.raises(OSError, match=r"pipe|reset"):
            wait_until(lambda: connection.sendall(request * 100), "end of the connection")
        assert hurried.figure('connections_closed_total{reason="unread"}') == 1


@pytest.mark.parametrize("unfinished", [b"", HALF_HEADERS, HALF_BODY], ids=["none", "headers", "body"])
def test_at_the_cap_the_oldest_unfinished_request_gives_way(small: Serving, unfinished: bytes) -> None:
    with ExitStack() as stack:
        idle = stack.enter_context(connected(small.url))
        idle.sendall(WHOLE)
        assert answers(idle)
        slow = [stack.enter_context(connected(small.url)) for _ in range(5)]
        for connection in slow[2:]:
            connection.sendall(unfinished)
        assert is_closed(slow[0])
        assert is_closed(slow[1])
        assert small.get("/healthz").status_code == 200
        idle.sendall(WHOLE)
        assert answers(idle), "an idle connection is kept"


def test_the_cap_stays_below_the_limit_of_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 100_000))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_limits.append(limits))
    assert connection_cap(1000) == 1000
    assert set_limits == [(1000 + RESERVED_DESCRIPTORS, 100_000)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 512))
    assert connection_cap(1000) == 512 - RESERVED_DESCRIPTORS
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    assert connection_cap(1000) == 32

    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 100_000))
    assert connection_cap(1000) == 256 - RESERVED_DESCRIPTORS
