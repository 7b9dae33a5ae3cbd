"""Receiver of spans by OTLP over HTTP, on the loopback interface only.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.text.unicode import valid_json_bytes
from pytest_evalstudio.traces import otlp, protobuf
from pytest_evalstudio.traces.collecting import SpanStore
from pytest_evalstudio.traces.files import raw_spans
from pytest_evalstudio.traces.spans import Event, Span

HOST = "127.0.0.1"
MAX_BODY_BYTES = 20_000_000
"""Maximum size of a request, as it is sent."""
MAX_CONTENT_BYTES = 64_000_000
"""Maximum size of a request after decompression."""
MAX_CONNECTIONS = 128
MAX_SPANS_PER_S = 20_000
"""Maximum rate of spans over ten seconds."""
MAX_WAIT_S = 600.0
_IDLE_S = 60.0
"""Time after which a silent connection is closed."""
_BURST_S = 10
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_SIGNALS = ("traces", "logs", "metrics")


class _Refused(Exception):
    """Request that is answered by an error.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Receiver:
    """Receives spans in threads of its own, from `start` to `close`.

    Attributes:
        endpoint: base address, for `OTEL_EXPORTER_OTLP_ENDPOINT` of the application.
        spans_at: secret address at which other processes of the run take spans, see `traces.remote`.

    Args:
        store: gets the spans.
        port: 0 for a free one.

    Raises:
        ConfigurationError: if the port is in use.
    """

    def __init__(self, store: SpanStore, port: int = 0) -> None:
        self._store = store
        self._token = secrets.token_urlsafe(16)
        self._rate = _Rate()
        self._server = self._opened(port)
        self.endpoint = f"http://{HOST}:{self._server.server_address[1]}"
        self.spans_at = f"{self.endpoint}/{self._token}/spans"

    def start(self) -> None:
        """Start to receive."""
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="evalstudio-otlp", daemon=True
        ).start()

    def close(self) -> None:
        """End all connections."""
        self._server.shutdown()
        self._server.server_close()

    def _opened(self, port: int) -> _Server:
        try:
            return _Server((HOST, port), type("Handler", (_Handler,), {"receiver": self}))
        except OSError as exc:
            raise ConfigurationError(
                f"[trace] port = {port}: cannot be used: {exc.strerror or exc}; end the process that uses it,"
                " or choose another one"
            ) from None

    def take(self, path: str) -> bytes | None:
        """Return the spans that another process of the run asks for; None if it does not know the address."""
        parts = urlsplit(path)
        token, _, name = parts.path.strip("/").partition("/")
        if name != "spans" or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        query = parse_qs(parts.query)
        try:
            wait_s = min(MAX_WAIT_S, float(query["wait_s"][0]))
            collected = self._store.collect(query["trace"][0], query.get("parent", []), wait_s)
        except (KeyError, ValueError):
            return None
        return msgspec.json.encode(collected)

    def add(self, signal: str, content: bytes, *, is_json: bool) -> tuple[int, str]:
        """Add spans or log records.

        Returns:
            The number of spans that are not kept, and the reason.

        Raises:
            _Refused: if the content is malformed, or too much comes.
        """
        if self._store.is_full:
            raise _Refused(429, "too many spans wait for their question")
        if signal == "metrics":
            return 0, ""
        try:
            spans, events, faults = _of_json(content) if is_json else _of_protobuf(signal, content)
        except (ValueError, RecursionError) as exc:
            raise _Refused(400, str(exc) or "the body is nested too deeply") from None
        except ConfigurationError as exc:
            raise _Refused(415, f"{exc}; or send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json") from None
        if not self._rate.allows(len(spans) + len(events)):
            raise _Refused(429, f"more than {MAX_SPANS_PER_S:,} spans per second")
        lost = self._store.add(spans)
        self._store.add_events(events)
        reasons = [f"{lost} spans are beyond the limits of a question"] if lost else []
        return lost + len(faults), "; ".join([*reasons, *faults[:1]])


Spans = list[tuple[str, Span, int]]
Events = list[tuple[str, str, Event, int]]


def _of_json(content: bytes) -> tuple[Spans, Events, list[str]]:
    """Return spans, log records, and what is wrong with those that cannot be read."""
    spans: Spans = []
    events: Events = []
    faults: list[str] = []
    for form, trace_id, text in raw_spans(valid_json_bytes(content)):
        size = len(memoryview(text))
        try:
            if form == "log":
                events.append((trace_id, *otlp.read_log_record(text), size))
            else:
                spans.append((trace_id, otlp.read_span(text), size))
        except (ValueError, OverflowError, RecursionError) as exc:
            faults.append(f"a span cannot be read: {exc}")
    return spans, events, faults


def _of_protobuf(signal: str, content: bytes) -> tuple[Spans, Events, list[str]]:
    if signal == "logs":
        return [], list(protobuf.read_log_records(content)), []
    return list(protobuf.read_spans(content)), [], []


class _Rate:
    """Spans of the last seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._budget = float(MAX_SPANS_PER_S * _BURST_S)
        self._time = time.monotonic()

    def allows(self, count: int) -> bool:
        with self._lock:
            now = time.monotonic()
            refill = (now - self._time) * MAX_SPANS_PER_S
            self._budget = min(MAX_SPANS_PER_S * _BURST_S, self._budget + refill)
            self._time = now
            if count > self._budget:
                return False
            self._budget -= count
            return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False  # on Windows it would share the port with another process
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, address: tuple[str, int], handler: type[_Handler]) -> None:
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


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    receiver: Receiver
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: requests hold texts of users."""

    def do_GET(self) -> None:
        self.close_connection = True
        self.server.free_slot()
        body = self.receiver.take(self.path)
        self._reply(404 if body is None else 200, body or b"{}", _JSON)

    def do_POST(self) -> None:
        kind = self.headers.get_content_type()
        try:
            signal = self._signal()
            if kind not in (_JSON, _PROTOBUF):
                raise _Refused(415, f"the content type is {_JSON} or {_PROTOBUF}")
            content = self._content()
            rejected, message = self.receiver.add(signal, content, is_json=kind == _JSON)
        except _Refused as exc:
            self.close_connection = True  # the body may not have been read to its end
            self._reply(exc.status, _error(str(exc), kind), kind if kind == _PROTOBUF else _JSON)
            return
        self._reply(200, _success(rejected, message, kind), kind)

    def _signal(self) -> str:
        signal = self.path.removeprefix("/v1/")
        if self.path == signal or signal not in _SIGNALS:
            raise _Refused(404, "spans are sent to /v1/traces")
        return signal

    def _content(self) -> bytes:
        """Return the body of the request, decompressed."""
        text = self.headers.get("Content-Length", "")
        if not text:
            raise _Refused(411, "the request needs a Content-Length")
        if not text.isascii() or not text.isdecimal() or len(text) > 12:
            raise _Refused(400, "the Content-Length is no number")
        if int(text) > MAX_BODY_BYTES:
            raise _Refused(413, f"the request has more than {MAX_BODY_BYTES:,} bytes; send smaller batches")
        try:
            body = self.rfile.read(int(text))
        except TimeoutError:
            body = b""
        if len(body) < int(text):
            raise _Refused(400, "the request is shorter than its Content-Length")
        encoding = self.headers.get("Content-Encoding", "identity").lower()
        if encoding == "gzip":
            return _unpacked(body)
        if encoding != "identity":
            raise _Refused(415, "the content encoding is gzip, or none")
        return body

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _unpacked(body: bytes) -> bytes:
    """Return the content of gzip; a bomb is not unpacked beyond the limit."""
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = unpacker.decompress(body, MAX_CONTENT_BYTES)
    except zlib.error as exc:
        raise _Refused(400, f"the body is no gzip: {exc}") from None
    if unpacker.unconsumed_tail:
        raise _Refused(413, f"the request unpacks to more than {MAX_CONTENT_BYTES:,} bytes")
    if not unpacker.eof:
        raise _Refused(400, "the gzip of the body is cut off")
    return content


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
