"""Measures the receiver of spans, and whether concurrent questions get their own.

    python tests/benchmarks/otlp_receiver.py [SECONDS] [QUESTIONS]

First, a process on the same core sends 1,000 spans per second for some seconds; all must arrive. Then as many
spans as possible. Last, a run asks a service in another process 2,000 questions, 16 at the same time; each
answer must have the spans of its own question.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SECONDS, QUESTIONS, CONCURRENT = 20, 2_000, 16
SPANS_PER_BATCH = 50

# A span of 1 kB, as those of a call of a model with short texts; 30 of them are a question.
SEND = """
import gzip, http.client, json, os, sys, time
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
address, prefix, rate, seconds, kind = sys.argv[1:]
rate, seconds = float(rate), float(seconds)
connection = http.client.HTTPConnection(address)
text = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "What is the fee? " * 20}]}])
values = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": text}
def batch(first):
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number in range(first, first + 50):
        span = spans.add()
        span.trace_id = bytes.fromhex(f"{prefix}{number // 30:016x}")
        span.span_id = (number + 1).to_bytes(8, "big")
        span.parent_span_id = b"\\0" * 7 + b"\\1" if number % 30 else b"\\xaa" * 8
        span.name, span.start_time_unix_nano, span.end_time_unix_nano = "chat m", 10**18, 10**18 + 10**9
        for key, value in values.items():
            pair = span.attributes.add()
            pair.key, pair.value.string_value = key, value
        pair = span.attributes.add()
        pair.key, pair.value.int_value = "gen_ai.usage.input_tokens", 7
    return gzip.compress(request.SerializeToString(), 1) if kind == "gzip" else request.SerializeToString()
bodies = [batch(number * 50) for number in range(int(rate * seconds / 50))]
headers = {"Content-Type": "application/x-protobuf"}
if kind == "gzip":
    headers["Content-Encoding"] = "gzip"
started, lost = time.perf_counter(), 0
for number, body in enumerate(bodies):
    if kind != "fast":
        time.sleep(max(0, started + number * 50 / rate - time.perf_counter()))
    connection.request("POST", "/v1/traces", body, headers)
    reply = connection.getresponse()
    lost += 50 * (reply.status != 200)
    reply.read()
print(len(bodies) * 50, lost, time.perf_counter() - started)
"""


def receive(rate: float, seconds: float, kind: str) -> str:
    """Return what arrived at a receiver in this process."""
    from pytest_evalstudio.traces import collecting, receiver

    receiver.MAX_SPANS_PER_S = 10**9
    prefix = "0123456789abcdef"
    store = collecting.SpanStore(prefix, receives=True)
    server = receiver.Receiver(store)
    server.start()
    address = server.endpoint.removeprefix("http://")
    sender = subprocess.Popen(
        [sys.executable, "-c", SEND, address, prefix, str(rate), str(seconds), kind],
        stdout=subprocess.PIPE,
        text=True,
    )
    start = time.process_time()
    output, _ = sender.communicate()
    busy_s = time.process_time() - start
    count, refused, wall_s = output.split()
    traces = [f"{prefix}{number:016x}" for number in range(int(count) // 30 + 1)]
    arrived = sum(len(store.collect(trace_id, [], 0).spans) for trace_id in traces)
    server.close()
    return (
        f"{int(count):,} spans in {float(wall_s):.1f} s ({int(count) / float(wall_s):,.0f} per second),"
        f" refused {refused}, lost {int(count) - arrived}; receiver {busy_s:.2f} s of processor time"
    )


APP = """
import json, os, sys, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import http.client, threading
ENDPOINT = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"].removeprefix("http://")
local = threading.local()


def pairs(values):
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def export(prompt, header):
    _, trace, parent, _ = header.split("-")
    base = int(os.urandom(7).hex() + "00", 16)
    now = str(time.time_ns())
    operations = [("retrieval", {"gen_ai.retrieval.documents": json.dumps([{"content": prompt}])})]
    operations += [("execute_tool", {"gen_ai.tool.name": "find", "gen_ai.tool.call.result": prompt,
                    "gen_ai.tool.call.arguments": json.dumps({"q": prompt, "n": n})}) for n in range(3)]
    spans = [
        {"traceId": trace, "spanId": f"{base + number + 2:016x}", "parentSpanId": f"{base + 1:016x}",
         "startTimeUnixNano": now, "endTimeUnixNano": now,
         "attributes": pairs({"gen_ai.operation.name": name, **values})}
        for number, (name, values) in enumerate(operations)
    ]
    spans.append({"traceId": trace, "spanId": f"{base + 1:016x}", "parentSpanId": parent, "kind": 2})
    for part in (spans[:2], spans[2:]):
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": part}]}]})
        connection = http.client.HTTPConnection(ENDPOINT)
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
        assert connection.getresponse().read() == b"{}"
        connection.close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
        if "traceparent" in self.headers:
            threading.Thread(target=export, args=(prompt, self.headers["traceparent"])).start()
        reply = json.dumps({"answer": prompt}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
CONFIG = """
evaluators = ["effort"]
{trace}
[[model]]
name = "m"
host = "http"
url = "http://127.0.0.1:{service}/ask"
concurrency = {concurrent}
cache = "never"
"""


def ask(count: int, *, traced: bool) -> tuple[float, list[dict[str, Any]]]:
    """Return the seconds of a run, and the rows of its record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (folder / "app.py").write_text(APP)
        app = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=folder,
            env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert app.stdout is not None
        service = app.stdout.readline().strip()
        trace = f"[trace]\nport = {port}\nwait_s = 60.0" if traced else ""
        text = CONFIG.format(trace=trace, service=service, concurrent=CONCURRENT)
        (folder / "evalstudio.toml").write_text(text)
        cases = [{"key": f"q{n}", "prompt": f"Question {n}?"} for n in range(count)]
        suite = {"name": "s", "tests": [{"key": "t", "test_cases": cases}]}
        (folder / "s_suite.json").write_text(json.dumps(suite))
        start = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "s_suite.json"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        app.kill()
        lines = (folder / "evalstudio-report" / "record.jsonl").read_text().splitlines()
        items = [json.loads(line) for line in lines if '"kind":"item"' in line]
    return seconds, [row for item in items for row in item["rows"]]


def is_right(row: dict[str, Any]) -> bool:
    """Return whether an answer has all spans of its question, and none of another one."""
    prompt = row["input"]
    calls = sorted((call["arguments"]["q"], call["arguments"]["n"]) for call in row["answer"]["tool_calls"])
    return (
        row["answer"]["spans"] == "complete"
        and row["answer"]["context"] == [prompt]
        and calls == [(prompt, n) for n in range(3)]
        and len(row["answer"]["steps"]) == 4
    )


def main(seconds: float, questions: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for kind in ("plain", "gzip"):
        print(f"1,000 spans per second on one core, protobuf, {kind}: {receive(1_000, seconds, kind)}")
    print(f"as fast as possible: {receive(1_000, seconds, 'fast')}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    traced_s, rows = ask(questions, traced=True)
    wrong = sum(not is_right(row) for row in rows)
    plain_s, _ = ask(questions, traced=False)
    print(
        f"{len(rows):,} questions, {CONCURRENT} at the same time, 5 spans each: {wrong} answers lack spans or"
        f" have those of another question; {traced_s:.1f} s, without [trace] {plain_s:.1f} s"
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        float(arguments[0]) if arguments else SECONDS, int(arguments[1]) if len(arguments) > 1 else QUESTIONS
    )
