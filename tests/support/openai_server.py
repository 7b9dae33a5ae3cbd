"""A chat-completions service on loopback whose replies are scripted by the test."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """Reply of the service to one request."""

    text: str | None = "fine"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay_s: float = 0.0
    disconnect: bool = False
    finish: str = "stop"
    refusal: str | None = None
    error: Mapping[str, Any] | None = None

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.status != 200:
            return json.dumps({"error": self.error or {"message": f"scripted {self.status}"}}).encode()
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        return json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            }
        ).encode()


class OpenAIServer:
    """Answers `replies` one by one, then `default`, which may be a function of the question.

    Attributes:
        by_request: in place of `default`, where it depends on the whole request.
        requests: JSON bodies in the order of arrival.
        headers: their headers.
        times: when they arrived, monotonic seconds.
        peak: the most requests that were being answered at the same time.
        connections: how many were opened.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.default: Reply | Callable[[str], Reply] = Reply()
        self.by_request: Callable[[dict[str, Any]], Reply] | None = None
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.peak = 0
        self.connections = 0
        self.url = ""
        self._busy = 0
        self._lock = threading.Lock()

    def begin(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            self.times.append(time.monotonic())
            self._busy += 1
            self.peak = max(self.peak, self._busy)
            if self.replies:
                return self.replies.pop(0)
        if self.by_request is not None:
            return self.by_request(body)
        return self.default(body["messages"][-1]["content"]) if callable(self.default) else self.default

    def end(self) -> None:
        with self._lock:
            self._busy -= 1

    def connected(self) -> None:
        with self._lock:
            self.connections += 1


@contextmanager
def serve() -> Iterator[OpenAIServer]:
    """A running service; `url` is its base."""
    service = OpenAIServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            service.connected()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = service.begin(body, {name.lower(): value for name, value in self.headers.items()})
            try:
                time.sleep(reply.delay_s)
                if reply.disconnect:
                    self.close_connection = True
                    return
                payload = reply.payload()
                self.send_response(reply.status)
                for name, value in {
                    "Content-Type": "application/json",
                    **reply.headers,
                    "Content-Length": str(len(payload)),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)
            except ConnectionError:  # the client lost its patience, as some tests want it to
                self.close_connection = True
            finally:
                service.end()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
