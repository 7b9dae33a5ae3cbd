"""HTTP services on loopback that speak a protocol, with faults that the test injects."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-planted-4711-secret"
ANSWER = "The fee is 5 USD."


@dataclass
class Request:
    """A request as the client sent it."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content) if self.content else None


@dataclass
class Response:
    """Behaviour of the service for a request.

    Attributes:
        parts: pieces of the body that are sent one by one, with `pause_s` between them.
        half: send half of the body, then close the connection.
        reset: reset the connection instead of answering.
        echo: append the request's headers to the body, as careless services do.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[bytes] = ()
    pause_s: float = 0.0
    delay_s: float = 0.0
    half: bool = False
    reset: bool = False

    def payload(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Service:
    """A running service.

    Attributes:
        protocol: answers each request that no fault is due for.
        faults: used up by the requests that `asks` accepts, one each.
        always: in place of `faults`, for every such request.
        asks: whether a request asks a question; other requests never fail.
    """

    def __init__(self, protocol: Callable[[Request], Response], asks: Callable[[Request], bool]) -> None:
        self.protocol = protocol
        self.asks = asks
        self.faults: list[Response] = []
        self.always: Response | None = None
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.url = ""
        self.lock = threading.Lock()

    @property
    def questions(self) -> list[Request]:
        return [request for request in self.requests if self.asks(request)]

    def respond(self, request: Request) -> Response:
        with self.lock:
            self.requests.append(request)
            if self.asks(request):
                self.times.append(time.monotonic())
                if self.always is not None:
                    return self.always
                if self.faults:
                    return self.faults.pop(0)
        return self.protocol(request)


class _Server(ThreadingHTTPServer):
    """Server whose threads end with it, also where a client keeps its connection open."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        for connection in tuple(self._connections):
            with suppress(OSError):
                # Not `SSLSocket.shutdown`, which changes an object that a thread reads from.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients hang up where a test wants them to."""


_ENDED: list[_Server] = []


def end_connections() -> None:
    """End what is left of services that have ended; a client may close after its service."""
    while _ENDED:
        _ENDED.pop().end_connections()


@contextmanager
def running(
    protocol: Callable[[Request], Response],
    asks: Callable[[Request], bool] = lambda request: True,
    handler: type[BaseHTTPRequestHandler] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Service]:
    """Run a service; `url` is its origin."""
    service = Service(protocol, asks)

    class Handler(handler or ServiceHandler):  # type: ignore[misc]
        pass

    Handler.service = service  # type: ignore[attr-defined]
    server = _Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        # The handshake belongs to the thread of a connection: one that fails must not end the server.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    service.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        _ENDED.append(server)


class ServiceHandler(BaseHTTPRequestHandler):
    service: Service
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _any(self) -> None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            content = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.reply(self.service.respond(Request(self.command, self.path, headers, content)))

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _any  # noqa: N815

    def reply(self, response: Response) -> None:
        try:
            time.sleep(response.delay_s)
            if response.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            payload = response.payload()
            size = (
                {"Transfer-Encoding": "chunked"} if response.parts else {"Content-Length": str(len(payload))}
            )
            self.send_response(response.status)
            for name, value in {"Content-Type": "application/json", **response.headers, **size}.items():
                self.send_header(name, value)
            self.end_headers()
            if response.parts:
                self._send_parts(response)
            else:
                self.wfile.write(payload[: len(payload) // 2] if response.half else payload)
            self.close_connection = self.close_connection or response.half
        except OSError:
            self.close_connection = True

    def _send_parts(self, response: Response) -> None:
        for part in response.parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
            time.sleep(response.pause_s)
        if response.half:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
