"""HTTP of the receiver of spans: requests of a bounded size and time, of a known length or in chunks."""

from __future__ import annotations

import io
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import msgspec

from pytest_evalstudio.traces import protobuf

HOST = "127.0.0.1"
MAX_BODY_BYTES = 20_000_000
"""Maximum size of a request, as it is sent."""
MAX_CONNECTIONS = 128
MAX_REQUEST_S = 10.0
"""Maximum time that a request takes from its first byte to its last, and a new connection to send one."""
MAX_CHUNK_LINE = 1_000
"""Maximum length of the line with the size of a chunk, and of a line of the trailer."""
_IDLE_S = 60.0
"""Time after which a connection that waits for its next request is closed."""
_NAMES = (HOST, "localhost", "[::1]", "host.docker.internal")
"""Names by which applications on this machine, and in its containers, reach the receiver."""
_SIGNALS = ("traces", "logs", "metrics")
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,8}")
_MAX_TRAILERS = 100
_CLIENT_CHARS = 100
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"


class Refused(Exception):
    """Request that is answered by an error.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Sink(Protocol):
    """Takes the requests."""

    def take(self, path: str) -> bytes | None: ...

    def note(self, refusal: Refused | None = None, client: str = "") -> None: ...

    def reserved(self) -> AbstractContextManager[Callable[[int], None]]: ...

    def unpack_and_add(
        self, signal: str, body: bytes, *, is_packed: bool, is_json: bool
    ) -> tuple[int, str]: ...


class Server(ThreadingHTTPServer):
    """Serves a bounded number of connections, each in a thread."""

    daemon_threads = True
    # The run ends without waiting for exporters that keep their connection open.
    block_on_close = False
    allow_reuse_address = False  # on Windows it would share the port with another process
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, address: tuple[str, int], handler: type[Handler]) -> None:
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._thread = threading.local()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread; one beyond the limit is closed, and its exporter tries again."""
        if self._slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self._thread.has_slot = True
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free_slot()

    def free_slot(self) -> None:
        """Let another connection be served: workers that wait must not keep spans from arriving."""
        if self._thread.has_slot:
            self._thread.has_slot = False
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that break their connection."""


class _TimedReader(io.RawIOBase):
    """Reads from a socket; a request must be complete within a total time.

    Attributes:
        limit_s: time until the first byte of the next request, in seconds.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.limit_s = MAX_REQUEST_S
        self._end = 0.0

    def readable(self) -> bool:
        return True

    def end_request(self) -> None:
        """Wait for the next request."""
        self._end = 0.0
        self.limit_s = _IDLE_S

    def readinto(self, buffer: Any) -> int:
        left_s = self._end - time.monotonic() if self._end else self.limit_s
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        count = self._connection.recv_into(buffer)
        self._end = self._end or time.monotonic() + MAX_REQUEST_S
        return count


class Handler(BaseHTTPRequestHandler):
    """Handles the requests of a connection.

    Attributes:
        receiver: takes them.
    """

    server: Server
    receiver: Sink
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self._reader = _TimedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        super().handle_one_request()
        self._reader.end_request()

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: requests hold texts of users."""

    def do_GET(self) -> None:
        # Its slot is given back below; a connection without one must not send further requests.
        self.close_connection = True
        if not self._is_for_us():
            self._reply(403, b"{}", _JSON)
            return
        self.server.free_slot()
        body = self.receiver.take(self.path)
        self._reply(404 if body is None else 200, body or b"{}", _JSON)

    def do_POST(self) -> None:
        kind = self.headers.get_content_type()
        try:
            if not self._is_for_us():
                raise Refused(403, "the request is for another host")
            signal = self._signal()
            if kind not in (_JSON, _PROTOBUF):
                raise Refused(415, f"the content type is {_JSON} or {_PROTOBUF}")
            encoding = self.headers.get("Content-Encoding", "identity").lower()
            if encoding not in ("gzip", "identity"):
                raise Refused(415, "the content encoding is gzip, or none")
            with self.receiver.reserved() as reserve:
                rejected, message = self.receiver.unpack_and_add(
                    signal,
                    self._body(reserve),
                    is_packed=encoding == "gzip",
                    is_json=kind == _JSON,
                )
            self.receiver.note()
        except Refused as exc:
            self.receiver.note(exc, self.headers.get("User-Agent", "")[:_CLIENT_CHARS])
            self.close_connection = True  # the body may not have been read to its end
            self._reply(exc.status, _error(str(exc), kind), kind if kind == _PROTOBUF else _JSON)
            return
        self._reply(200, _success(rejected, message, kind), kind)

    def _signal(self) -> str:
        signal = self.path.removeprefix("/v1/")
        if self.path == signal or signal not in _SIGNALS:
            raise Refused(404, "spans are sent to /v1/traces")
        return signal

    def _is_for_us(self) -> bool:
        """Return whether the request names this machine: a page of the web reaches it by another name."""
        # The last colon: IPv6 addresses have more of them.
        name, _, port = self.headers.get("Host", "").rpartition(":")
        return name.lower() in _NAMES and port == str(self.server.server_address[1])

    def _body(self, reserve: Callable[[int], None]) -> bytes:
        """Return the body of the request, of a known length or in chunks."""
        text = self.headers.get("Content-Length", "")
        coding = self.headers.get("Transfer-Encoding", "").strip().lower()
        if coding:
            if text or coding != "chunked":
                raise Refused(400, "the transfer encoding is chunked, without a Content-Length, or none")
            return self._chunked_body(reserve)
        if not text:
            raise Refused(411, "the request needs a Content-Length, or chunks")
        # int() would also read digits of other scripts, signs, underscores and blanks.
        if not text.isascii() or not text.isdecimal() or len(text) > 12:
            raise Refused(400, "the Content-Length is no number")
        if int(text) > MAX_BODY_BYTES:
            raise Refused(413, f"the request has more than {MAX_BODY_BYTES:,} bytes; send smaller batches")
        # Before it is read: all connections together have a limit of memory.
        reserve(int(text))
        body = self._read(int(text))
        if len(body) < int(text):
            raise Refused(400, "the request is shorter than its Content-Length")
        return body

    def _chunked_body(self, reserve: Callable[[int], None]) -> bytes:
        """Return a body that comes in chunks (RFC 9112, section 7.1)."""
        body = bytearray()
        while size := self._chunk_size():
            if len(body) + size > MAX_BODY_BYTES:
                raise Refused(413, f"the request has more than {MAX_BODY_BYTES:,} bytes")
            reserve(size)
            # With the line break after the chunk.
            chunk = self._read(size + 2)
            if len(chunk) < size + 2 or not chunk.endswith(b"\r\n"):
                raise Refused(400, "a chunk of the request is shorter than it says")
            body += chunk[:-2]
        for _ in range(_MAX_TRAILERS):
            if self._line() in (b"\r\n", b"\n"):
                return bytes(body)
        raise Refused(400, "the request has too many lines after its chunks")

    def _chunk_size(self) -> int:
        size = self._line().partition(b";")[0].strip()
        if not _CHUNK_SIZE.fullmatch(size):
            raise Refused(400, "a chunk of the request has no size")
        return int(size, 16)

    def _line(self) -> bytes:
        try:
            line = self.rfile.readline(MAX_CHUNK_LINE)
        except TimeoutError:
            line = b""
        if not line.endswith(b"\n"):
            raise Refused(400, "the request is cut off, or a line of its chunks is too long")
        return line

    def _read(self, size: int) -> bytes:
        """Return bytes of the request; fewer where it ends or takes too long."""
        try:
            return self.rfile.read(size)
        except TimeoutError:
            return b""

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.connection.settimeout(MAX_REQUEST_S)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _error(message: str, kind: str) -> bytes:
    """Return a `Status` of OTLP, whose second field is the message."""
    if kind != _PROTOBUF:
        return msgspec.json.encode({"message": message})
    text = message.encode()[:16_000]
    return b"\x12" + bytes(_varint(len(text))) + text


def _varint(number: int) -> Iterator[int]:
    while number > 127:
        yield number & 127 | 128
        number >>= 7
    yield number


def _success(rejected: int, message: str, kind: str) -> bytes:
    if kind == _PROTOBUF:
        return protobuf.partial_success(rejected, message) if rejected else b""
    partial = {"rejectedSpans": str(rejected), "errorMessage": message}
    return msgspec.json.encode({"partialSuccess": partial} if rejected else {})
