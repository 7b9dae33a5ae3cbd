"""The receiver of spans: the protocol of OTLP over HTTP, its limits, and requests that are not honest."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.traces import collecting, receiver, receiver_http
from pytest_evalstudio.traces.collecting import CollectedSpans, SpanStore
from pytest_evalstudio.traces.receiver import Receiver
from pytest_evalstudio.traces.receiver_http import Refused
from pytest_evalstudio.traces.remote import RemoteSpans
from support.traces import AGENT, TRACE, batch, chat, log_record, logs, span

JSON, PROTOBUF = "application/json", "application/x-protobuf"
PARENT = f"{9:016x}"
SPANS = [
    span(1, AGENT, parent=9, kind=2),
    span(2, chat("Fee?", "5"), parent=1),
]


@pytest.fixture
def store() -> SpanStore:
    return SpanStore(TRACE[:16], receives=True)


@pytest.fixture
def running(store: SpanStore) -> Iterator[Receiver]:
    server = Receiver(store)
    server.start()
    yield server
    server.close()


def post(running: Receiver, body: bytes, kind: str = JSON, path: str = "/v1/traces", **headers: str) -> Any:
    connection = HTTPConnection(running.endpoint.removeprefix("http://"), timeout=120)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request("POST", path, body, {"Content-Type": kind, **names})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def in_protobuf(value: dict[str, Any]) -> bytes:
    """Return a batch of OTLP JSON in protobuf; the JSON of protobuf has ids in base64."""

    def with_ids(item: Any) -> Any:
        if isinstance(item, dict):
            return {
                key: base64.b64encode(bytes.fromhex(part)).decode()
                if key in ("traceId", "spanId", "parentSpanId")
                else with_ids(part)
                for key, part in item.items()
            }
        return [with_ids(part) for part in item] if isinstance(item, list) else item

    kind = ExportLogsServiceRequest if "resourceLogs" in value else ExportTraceServiceRequest
    encoded: bytes = ParseDict(with_ids(value), kind()).SerializeToString()
    return encoded


@pytest.mark.parametrize("kind", [JSON, PROTOBUF])
@pytest.mark.parametrize("packed", [False, True])
def test_both_encodings_give_the_same_spans(
    kind: str, packed: bool, running: Receiver, store: SpanStore
) -> None:
    value = batch(SPANS)
    body = in_protobuf(value) if kind == PROTOBUF else json.dumps(value).encode()
    headers = {"Content_Encoding": "gzip"} if packed else {}
    response, content = post(running, gzip.compress(body) if packed else body, kind, **headers)
    assert (response.status, response.headers["Content-Type"]) == (200, kind)
    assert content == (b"" if kind == PROTOBUF else b"{}")
    collected = store.collect(TRACE, [PARENT], 30)
    assert collected.status == "complete"
    agent, model = collected.spans
    assert (agent.id, agent.parent, agent.is_server, agent.duration_s) == (f"{1:016x}", PARENT, True, 1.0)
    assert (model.attributes["gen_ai.usage.input_tokens"], model.parent) == (3, f"{1:016x}")


@pytest.mark.parametrize("kind", [JSON, PROTOBUF])
def test_log_records_join_their_span_and_metrics_are_dropped(
    kind: str, running: Receiver, store: SpanStore
) -> None:
    for path, value in (
        ("/v1/logs", logs([log_record(1, "gen_ai.choice", {"message": {"content": "5"}})])),
        ("/v1/traces", batch(SPANS)),
    ):
        body = in_protobuf(value) if kind == PROTOBUF else json.dumps(value).encode()
        assert post(running, body, kind, path)[0].status == 200
    assert post(running, b"anything", kind, "/v1/metrics")[0].status == 200
    agent, _ = store.collect(TRACE, [PARENT], 30).spans
    [event] = agent.events
    assert (event.name, event.body) == ("gen_ai.choice", {"message": {"content": "5"}})


DEEP = b'{"resourceSpans":' + b"[" * 100_000
REFUSED = {
    "another path": (404, {"path": "/v1/profiles"}),
    "no path": (404, {"path": "/"}),
    "another type": (415, {"kind": "text/plain"}),
    "another encoding": (415, {"Content_Encoding": "br"}),
    "no JSON": (400, {"body": b'{"resourceSpans": 7}'}),
    "nested JSON": (400, {"body": DEEP}),
    "broken protobuf": (400, {"body": b"\xff" * 100, "kind": PROTOBUF}),
    "no gzip": (400, {"body": b"no", "Content_Encoding": "gzip"}),
    "cut gzip": (400, {"body": gzip.compress(b"{}" * 999)[:-4], "Content_Encoding": "gzip"}),
    "no length": (411, {"Content_Length": ""}),
    "a wrong length": (400, {"Content_Length": "-1"}),
    "a long length": (413, {"Content_Length": "99999999999"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_request_is_refused_in_its_encoding(name: str, running: Receiver, store: SpanStore) -> None:
    status, changes = REFUSED[name]
    arguments = {"body": b"{}", "kind": JSON, **changes}
    response, content = post(running, **arguments)
    assert response.status == status
    assert response.headers["Connection"] == "close"
    assert json.loads(content)["message"] if arguments["kind"] != PROTOBUF else content[2:]
    assert post(running, json.dumps(batch(SPANS)).encode())[0].status == 200


def test_a_bomb_is_not_unpacked(running: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "MAX_CONTENT_BYTES", 1_000_000)
    bomb = gzip.compress(b" " * 10_000_000)
    assert post(running, bomb, Content_Encoding="gzip")[0].status == 413
    assert post(running, gzip.compress(b"{}" + b" " * 1000), Content_Encoding="gzip")[0].status == 200


def test_a_request_that_is_shorter_than_it_says_is_refused(running: Receiver) -> None:
    host, port = running.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        lines = [
            "POST /v1/traces HTTP/1.1",
            f"Host: {host}:{port}",
            f"Content-Type: {JSON}",
            "Content-Length: 100",
            "",
            "{}",
        ]
        connection.sendall("\r\n".join(lines).encode())
        connection.shutdown(socket.SHUT_WR)
        response = HTTPResponse(connection)
        response.begin()
        assert (response.status, "shorter" in response.read().decode()) == (400, True)


@pytest.mark.parametrize("kind", [JSON, PROTOBUF])
def test_spans_beyond_the_limit_of_a_question_are_rejected_by_the_protocol(
    kind: str, running: Receiver, store: SpanStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "MAX_SPANS", 2)
    value = batch([*SPANS, span(3, {}, parent=1), span(4, {}, parent=1)])
    body = in_protobuf(value) if kind == PROTOBUF else json.dumps(value).encode()
    response, content = post(running, body, kind)
    assert response.status == 200
    if kind == PROTOBUF:
        partial = ExportTraceServiceResponse.FromString(content).partial_success
        rejected, message = partial.rejected_spans, partial.error_message
    else:
        partial = json.loads(content)["partialSuccess"]
        rejected, message = int(partial["rejectedSpans"]), partial["errorMessage"]
    assert (rejected, message) == (2, "2 spans are beyond the limits of a question")
    collected = store.collect(TRACE, [PARENT], 30)
    assert (len(collected.spans), collected.lost, collected.status) == (2, 2, "incomplete")


def test_a_malformed_span_leaves_the_others(running: Receiver, store: SpanStore) -> None:
    value = batch([*SPANS, {"traceId": TRACE, "spanId": 7}])
    _, content = post(running, json.dumps(value).encode())
    assert json.loads(content)["partialSuccess"]["rejectedSpans"] == "1"
    assert len(store.collect(TRACE, [PARENT], 30).spans) == 2


def test_too_many_spans_are_to_be_sent_later(running: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    running._rate._budget = 1.0
    monkeypatch.setattr(receiver, "MAX_SPANS_PER_S", 0)
    response, _ = post(running, json.dumps(batch(SPANS)).encode())
    assert (response.status, response.headers["Retry-After"]) == (429, "1")


def test_spans_of_others_are_not_kept(running: Receiver, store: SpanStore) -> None:
    spans = [{**each, "traceId": "ff" * 16} for each in SPANS]
    assert post(running, json.dumps(batch(spans)).encode())[0].status == 200
    assert store.foreign == 2
    assert not store._traces


def test_another_process_takes_the_spans_by_the_secret_address(running: Receiver, store: SpanStore) -> None:
    post(running, json.dumps(batch(SPANS)).encode())
    other = RemoteSpans(running.spans_at.replace("/spans", "x/spans"))
    assert other.collect(TRACE, [PARENT], 0).status == "missing"
    collected = RemoteSpans(running.spans_at).collect(TRACE, [PARENT], 30)
    assert (collected.status, [each.id for each in collected.spans]) == (
        "complete",
        [f"{1:016x}", f"{2:016x}"],
    )


def test_a_port_in_use_is_named(running: Receiver, store: SpanStore) -> None:
    port = int(running.endpoint.rpartition(":")[2])
    with pytest.raises(
        ConfigurationError, match=rf"\[trace\] port = {port}: cannot be used: .*choose another"
    ):
        Receiver(store, port)


def test_a_waiting_worker_leaves_its_connection_to_exporters(running: Receiver) -> None:
    """An exporter that finds no connection tries again, which would be in vain while the worker waits."""
    running._server._slots = threading.BoundedSemaphore(1)
    collected: list[CollectedSpans] = []
    source = RemoteSpans(running.spans_at)
    worker = threading.Thread(target=lambda: collected.append(source.collect(TRACE, [PARENT], 600)))
    worker.start()
    status = 0
    while status != 200:
        with suppress(OSError, HTTPException):
            status = post(running, json.dumps(batch(SPANS)).encode())[0].status
    worker.join()
    # The worker may have found no connection itself, while the exporter had it.
    assert [each.status for each in collected] in (["complete"], ["missing"])


def test_a_connection_beyond_the_limit_is_closed(running: Receiver, store: SpanStore) -> None:
    running._server._slots = threading.BoundedSemaphore(1)
    address = running.endpoint.removeprefix("http://")
    first = HTTPConnection(address, timeout=120)
    first.request("POST", "/v1/traces", b"{}", {"Content-Type": JSON})
    assert first.getresponse().read() == b"{}"
    with pytest.raises((OSError, HTTPException)):
        post(running, b"{}")
    first.close()


def send(running: Receiver, text: bytes, *, ends: bool = True) -> HTTPResponse:
    """Send bytes as they are, and return the response."""
    host, port = running.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(text.replace(b"HOST", f"{host}:{port}".encode()))
        if ends:
            connection.shutdown(socket.SHUT_WR)
        response = HTTPResponse(connection)
        response.begin()
        response.read()
        return response


HEAD = (
    b"POST /v1/traces HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n"
)


def in_chunks(body: bytes, size: int) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("packed", [False, True])
def test_a_body_in_chunks_is_read_as_exporters_of_node_send_it(
    size: int, packed: bool, running: Receiver, store: SpanStore
) -> None:
    body = json.dumps(batch(SPANS)).encode()
    encoding = b"Content-Encoding: gzip\r\n" if packed else b""
    content = in_chunks(gzip.compress(body) if packed else body, size)
    assert send(running, HEAD + encoding + b"\r\n" + content, ends=False).status == 200
    assert store.collect(TRACE, [PARENT], 30).status == "complete"


def test_chunks_of_a_client_of_the_standard_library_are_read(running: Receiver, store: SpanStore) -> None:
    body = json.dumps(batch(SPANS)).encode()
    connection = HTTPConnection(running.endpoint.removeprefix("http://"), timeout=120)
    for _ in range(2):  # the connection is kept
        connection.request(
            "POST", "/v1/traces", iter([body[:9], body[9:]]), {"Content-Type": JSON}, encode_chunked=True
        )
        assert connection.getresponse().read() == b"{}"
    connection.close()
    assert len(store.collect(TRACE, [PARENT], 30).spans) == 2


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        (b"Content-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
        (b"\r\nzz\r\n{}\r\n0\r\n\r\n", 400),
        (b"\r\n-2\r\n{}\r\n0\r\n\r\n", 400),
        (b"\r\n5\r\n{}\r\n", 400),
        (b"\r\n2\r\n{}", 400),
        (b"\r\n" + b"0" * 5000 + b"\r\n", 400),
        (b"\r\n2\r\n{}\r\n0\r\n" + b"x: y\r\n" * 200 + b"\r\n", 400),
        (b"\r\nffffffff\r\n", 413),
        (b"\r\n2;name=value\r\n{}\r\n0\r\nTrailer: x\r\n\r\n", 200),
    ],
)
def test_malformed_chunks_are_refused(rest: bytes, status: int, running: Receiver) -> None:
    assert send(running, HEAD + rest).status == status


def test_another_transfer_encoding_is_refused(running: Receiver) -> None:
    assert send(running, HEAD.replace(b"chunked", b"gzip, chunked") + b"\r\n").status == 400


@pytest.mark.parametrize(
    ("name", "status"),
    [("127.0.0.1", 200), ("localhost", 200), ("LOCALHOST", 200), ("evil.example", 403), ("127.0.0.1.x", 403)],
)
def test_a_request_by_another_name_of_the_host_is_refused(name: str, status: int, running: Receiver) -> None:
    port = running.endpoint.rpartition(":")[2]
    assert post(running, b"{}", Host=f"{name}:{port}")[0].status == status
    assert post(running, b"{}", Host=f"{name}:1")[0].status == 403


@pytest.mark.parametrize(
    "beginning",
    [b"", b"POST /v1/traces HTTP/1.1\r\nHost: HOST\r\n", HEAD + b"\r\n2\r\n"],
    ids=["nothing", "headers", "chunks"],
)
def test_a_slow_request_ends_within_its_total_time(
    beginning: bytes, running: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver_http, "MAX_REQUEST_S", 0.3)
    host, port = running.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(beginning.replace(b"HOST", f"{host}:{port}".encode()))
        with suppress(OSError):
            while connection.recv(1000):
                """Read what the receiver says until it closes the connection."""


def test_many_slow_clients_do_not_lock_others_out(
    running: Receiver, store: SpanStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver_http, "MAX_REQUEST_S", 0.5)
    host, port = running.endpoint.removeprefix("http://").split(":")
    clients = [socket.create_connection((host, int(port)), timeout=120) for _ in range(150)]
    for client in clients:
        with suppress(OSError):
            client.sendall(b"POST /v1/traces HTTP/1.1\r\n")
    status = 0
    while status != 200:
        with suppress(OSError, HTTPException):
            status = post(running, json.dumps(batch(SPANS)).encode())[0].status
    for client in clients:
        client.close()


BOMBS = {
    "JSON": (b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * 2_000_000 + b"{}]}]}]}", JSON),
    "numbers": (b'{"resourceSpans":[' + b"[]," * 2_000_000 + b"[]]}", JSON),
    "protobuf": (
        b"\x0a"
        + bytes(receiver_http._varint(4_000_005))
        + b"\x12"
        + bytes(receiver_http._varint(4_000_000))
        + b"\x12\x00" * 2_000_000,
        PROTOBUF,
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_many_small_values_are_refused_before_objects_are_made(name: str, running: Receiver) -> None:
    body, kind = BOMBS[name]
    tracemalloc.start()
    try:
        response, content = post(running, gzip.compress(body, 1), kind, Content_Encoding="gzip")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert response.status == 400
    assert b"1,000,000 values" in content
    assert peak < 3 * len(body) + 10_000_000


def test_long_texts_full_of_commas_are_no_bomb(running: Receiver, store: SpanStore) -> None:
    spans = [SPANS[0], span(2, chat("Fee?", "a, [b], {c}, " * 100_000), parent=1)]
    assert post(running, json.dumps(batch(spans)).encode())[0].status == 200
    assert len(store.collect(TRACE, [PARENT], 30).spans) == 2


def test_requests_that_are_too_large_together_are_sent_again(running: Receiver) -> None:
    with running.reserved() as reserve:
        reserve(receiver.MAX_WAITING_BYTES - 1)
        response, _ = post(running, b"{}")
        assert (response.status, response.headers["Retry-After"]) == (429, "1")
    assert post(running, b"{}")[0].status == 200


def test_refusals_are_counted_by_reason(running: Receiver) -> None:
    for _ in range(3):
        post(running, b"{}", kind="text/plain", User_Agent="OTel-Exporter/1.0")
    post(running, b"{}", path="/v1/profiles", User_Agent="curl/8")
    post(running, b"{}")
    assert running.traffic.sentence == (
        "4 of 5 requests refused, 0 spans received: 3 with status 415 (the content type is"
        " application/json or application/x-protobuf); 1 with status 404 (spans are sent to /v1/traces);"
        " the last one came from curl/8"
    )


def test_the_reason_of_a_refusal_is_masked_before_it_is_cut(running: Receiver) -> None:
    key = "sk-" + "proj4711ABCDEFGHIJ" * 2
    running.note(Refused(400, "x" * (200 - 12) + " " + key))
    [(_, reason)] = running.traffic.refusals
    assert "sk-proj" not in reason


def test_refusals_beyond_the_counted_reasons_are_counted_together(running: Receiver) -> None:
    for number in range(150):
        running.note(Refused(400, f"reason {number}"))
    running.note(Refused(400, "reason 0"))
    assert running.traffic.refusals.total() == running.traffic.requests == 151
    assert len(running.traffic.refusals) == 101
    assert running.traffic.refusals[400, "reason 0"] == 2
