"""Receiver of spans by OTLP over HTTP, on the loopback interface only.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.metrics.detectors import redact_identifier
from pytest_evalstudio.text.figures import counted
from pytest_evalstudio.text.unicode import valid_json_bytes
from pytest_evalstudio.traces import otlp, protobuf
from pytest_evalstudio.traces.collecting import SpanStore
from pytest_evalstudio.traces.elements import MAX_ELEMENTS, check_json, check_protobuf
from pytest_evalstudio.traces.files import raw_spans
from pytest_evalstudio.traces.receiver_http import HOST, Handler, Refused, Server
from pytest_evalstudio.traces.spans import Event, Span

MAX_CONTENT_BYTES = 64_000_000
"""Maximum size of a request after decompression."""
MAX_SPANS_PER_S = 20_000
"""Maximum rate of spans over ten seconds."""
MAX_WAIT_S = 600.0
MAX_WAITING_BYTES = 64_000_000
"""Maximum size of all requests that are received at the same time."""
_BURST_S = 10
_REASONS = 3
"""Reasons of refusals in a sentence."""
_MAX_REASONS = 100
"""Reasons that are counted apart: they quote requests, of which each may have another one."""
_OTHER_REASONS = "other reasons"
_REASON_CHARS = 200


@dataclass(slots=True)
class Traffic:
    """Requests of a run, for its end.

    Attributes:
        refusals: number of refused requests by status and reason.
        client: name of the exporter of the last refused request, as it says.
    """

    requests: int = 0
    spans: int = 0
    refusals: Counter[tuple[int, str]] = field(default_factory=Counter)
    client: str = ""

    @property
    def sentence(self) -> str:
        """Return the refusals in words, "" without any."""
        if not self.refusals:
            return ""
        reasons = "; ".join(
            f"{count:,} with status {status} ({reason})"
            for (status, reason), count in self.refusals.most_common(_REASONS)
        )
        more = f" and {len(self.refusals) - _REASONS} more reasons" if len(self.refusals) > _REASONS else ""
        client = f"; the last one came from {self.client}" if self.client else ""
        refused = self.refusals.total()
        spans = f"{counted(self.spans, 'span')} received"
        return f"{refused:,} of {counted(self.requests, 'request')} refused, {spans}: {reasons}{more}{client}"


class Receiver:
    """Receives spans in threads of its own, from `start` to `close`.

    Attributes:
        traffic: requests so far.
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
        self._parsing = threading.Lock()
        self._lock = threading.Lock()
        self._waiting = 0
        self.traffic = Traffic()
        self._server = self._opened(port)
        self.endpoint = f"http://{HOST}:{self._server.server_address[1]}"
        self.spans_at = f"{self.endpoint}/{self._token}/spans"

    def start(self) -> None:
        """Start to receive."""
        # The interval bounds the time for which `close` waits.
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="evalstudio-otlp", daemon=True
        ).start()

    def close(self) -> None:
        """End all connections."""
        self._server.shutdown()
        self._server.server_close()

    def _opened(self, port: int) -> Server:
        try:
            return Server((HOST, port), type("Handler", (Handler,), {"receiver": self}))
        except OSError as exc:
            raise ConfigurationError(
                f"[trace] port = {port}: cannot be used: {exc.strerror or exc}; end the process that uses it,"
                " or choose another one"
            ) from None

    def take(self, path: str) -> bytes | None:
        """Return the spans that another process of the run asks for; None if it does not know the address."""
        parts = urlsplit(path)
        token, _, name = parts.path.strip("/").partition("/")
        # As bytes: `compare_digest` raises an error for texts that are not ASCII.
        if name != "spans" or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        query = parse_qs(parts.query)
        try:
            wait_s = min(MAX_WAIT_S, float(query["wait_s"][0]))
            collected = self._store.collect(query["trace"][0], query.get("parent", []), wait_s)
        except (KeyError, ValueError):
            return None
        return msgspec.json.encode(collected)

    def note(self, refusal: Refused | None = None, client: str = "") -> None:
        """Count a request, and why it was refused."""
        with self._lock:
            self.traffic.requests += 1
            if refusal is None:
                return
            # Masked before it is cut: the beginning of a key alone would not be recognised.
            reason = refusal.status, redact_identifier(str(refusal))[:_REASON_CHARS]
            if reason not in self.traffic.refusals and len(self.traffic.refusals) >= _MAX_REASONS:
                reason = refusal.status, _OTHER_REASONS
            self.traffic.refusals[reason] += 1
            self.traffic.client = client

    @contextmanager
    def reserved(self) -> Iterator[Callable[[int], None]]:
        """Provide a function that reserves memory for the bytes of a request; they are free at the end.

        It raises `Refused` where all requests together are too large.
        """
        sizes: list[int] = []

        def reserve(size: int) -> None:
            with self._lock:
                if self._waiting + size > MAX_WAITING_BYTES:
                    raise Refused(429, "too many requests are being received; the exporter sends them again")
                self._waiting += size
                sizes.append(size)

        try:
            yield reserve
        finally:
            with self._lock:
                self._waiting -= sum(sizes)

    def unpack_and_add(self, signal: str, body: bytes, *, is_packed: bool, is_json: bool) -> tuple[int, str]:
        """Add the content of one request after the other, so that the memory of one at most is needed."""
        with self._parsing:
            content = _unpacked(body) if is_packed else body
            return self.add(signal, content, is_json=is_json)

    def add(self, signal: str, content: bytes, *, is_json: bool) -> tuple[int, str]:
        """Add spans or log records.

        Returns:
            The number of spans that are not kept, and the reason.

        Raises:
            Refused: if the content is malformed, or too much comes.
        """
        if self._store.is_full:
            raise Refused(429, "too many spans wait for their question")
        if signal == "metrics":
            return 0, ""
        try:
            spans, events, faults = _of_json(content) if is_json else _of_protobuf(signal, content)
        except (ValueError, RecursionError) as exc:
            raise Refused(400, str(exc) or "the body is nested too deeply") from None
        except ConfigurationError as exc:
            raise Refused(415, f"{exc}; or send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json") from None
        if not self._rate.allows(len(spans) + len(events)):
            raise Refused(429, f"more than {MAX_SPANS_PER_S:,} spans per second")
        self.traffic.spans += len(spans)
        lost = self._store.add(spans)
        self._store.add_events(events)
        reasons = [f"{lost} spans are beyond the limits of a question"] if lost else []
        return lost + len(faults), "; ".join([*reasons, *faults[:1]])


Spans = list[tuple[str, Span, int]]
Events = list[tuple[str, str, Event, int]]


def _of_json(content: bytes) -> tuple[Spans, Events, list[str]]:
    """Return spans, log records, and what is wrong with those that cannot be read."""
    check_json(content, MAX_ELEMENTS)
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
    check_protobuf(signal, content, MAX_ELEMENTS)
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


def _unpacked(body: bytes) -> bytes:
    """Return the content of gzip; a bomb is not unpacked beyond the limit."""
    # 16 is added for the header and trailer of gzip.
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = unpacker.decompress(body, MAX_CONTENT_BYTES)
    except zlib.error as exc:
        raise Refused(400, f"the body is no gzip: {exc}") from None
    if unpacker.unconsumed_tail:
        raise Refused(413, f"the request unpacks to more than {MAX_CONTENT_BYTES:,} bytes")
    if not unpacker.eof:
        raise Refused(400, "the gzip of the body is cut off")
    return content
