"""The server behind the page: HTTP on this machine only, and only for who knows the token.

The page's own files hold nothing of anybody's and are served to anyone who calls the server by its name.
Texts and labels are behind `/api/`, where each request must carry the token in a header, which no other
site's page can make a browser send.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socketserver import TCPServer
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from pytest_evalstudio.core import quick_json
from pytest_evalstudio.core.errors import ConfigurationError, DataError

ADDRESS = "127.0.0.1"
TOKEN = "X-Review-Token"
LONGEST_BODY = 4096
"""Bytes."""
LONGEST_ADDRESS = 1024
"""Characters."""
FILES = {
    "/review.css": ("review.css", "text/css; charset=utf-8"),
    "/review.js": ("review.js", "text/javascript; charset=utf-8"),
    "/shared.js": ("shared.js", "text/javascript; charset=utf-8"),
    "/vote.js": ("vote.js", "text/javascript; charset=utf-8"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri"
        " 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageSession(Protocol):
    """The session behind a page: what is asked, and what people say of it.

    Attributes:
        page: file name of the page.
    """

    @property
    def page(self) -> str:
        """Return the file name of the page."""

    def state(self) -> dict[str, Any]:
        """Return the state for the page."""

    def case(self, id: int) -> dict[str, Any]:
        """Return what is shown under a number."""

    def scores(self, id: int) -> dict[str, Any]:
        """Return what the page shows only on request; raise KeyError if there is nothing."""

    def accepts(self, label: object) -> bool:
        """Return whether a value of the page is a label."""

    def label(self, id: int, answer: str, label: Any, reason: str = "") -> dict[str, Any]:
        """Keep a label, and return the state."""


class ReviewServer:
    """Serves a session's page until it is closed.

    Args:
        port: 0 for any that is free.

    Raises:
        ConfigurationError: if the port is not available.
    """

    def __init__(self, session: PageSession, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(32)
        try:
            self._server = _Server((ADDRESS, port), partial(_Handler, session, self.token))
        except (OSError, OverflowError) as exc:
            raise ConfigurationError(
                f"--port {port} is not available: {exc}; leave --port out to use a free port"
            ) from None
        self.port: int = self._server.server_address[1]

    @property
    def address(self) -> str:
        """Return the address to open; the token follows the #, which browsers do not send."""
        return f"http://{ADDRESS}:{self.port}/#{self.token}"

    def serve(self) -> None:
        """Answer requests until `close` is called or the process is interrupted."""
        try:
            # `shutdown` waits for one interval.
            self._server.serve_forever(poll_interval=0.05)
        finally:
            self._server.server_close()

    def start(self) -> threading.Thread:
        """Serve in a thread."""
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # where it would let others listen at the same port

    def server_bind(self) -> None:
        """Without looking for a name of this machine, which may take long."""
        TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that close the connection."""


class _Refused(Exception):
    """A request that is not answered.

    Args:
        status: of HTTP.
        reason: for who asked.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "evalstudio"
    sys_version = ""
    timeout = 60

    def __init__(self, session: PageSession, token: str, *arguments: Any) -> None:
        self._session = session
        self._token = token
        super().__init__(*arguments)

    def do_GET(self) -> None:
        self._answer(self._got)

    def do_POST(self) -> None:
        self._answer(self._posted)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: addresses and labels are private."""

    def _answer(self, content_of: Callable[[], tuple[bytes, str]]) -> None:
        try:
            self._check_host()
            content, kind = content_of()
            self._send(200, content, kind)
        except _Refused as exc:
            self._send_problem(exc.status, str(exc))
        except KeyError:
            self._send_problem(404, "there is no such answer among those that are asked")
        except DataError as exc:
            self._send_problem(409, str(exc))
        except OSError as exc:
            self._send_problem(500, f"the label is not kept: {exc.strerror or exc}")

    def _got(self) -> tuple[bytes, str]:
        parts = urlsplit(self.path)
        if len(self.path) > LONGEST_ADDRESS:
            raise _Refused(414, "the address is too long")
        if parts.path == "/" or parts.path in FILES:
            name, kind = FILES.get(parts.path, (self._session.page, "text/html; charset=utf-8"))
            return (
                files("pytest_evalstudio.contrib.calibration.review") / "static" / name
            ).read_bytes(), kind
        self._check_token()
        if parts.path == "/api/state":
            return _json(self._session.state())
        if parts.path in ("/api/case", "/api/scores"):
            content = self._session.case if parts.path == "/api/case" else self._session.scores
            return _json(content(_number(parse_qs(parts.query).get("id", [""])[0])))
        raise _Refused(404, "there is nothing here")

    def _posted(self) -> tuple[bytes, str]:
        self._check_token()
        self._check_origin()
        if self.path != "/api/label":
            raise _Refused(404, "there is nothing here")
        body = self._body()
        id, answer, label = body.get("id"), body.get("answer_id"), body.get("label")
        reason = body.get("reason", "")
        is_label = self._session.accepts(label)
        has_keys = {"id", "answer_id", "label"} <= set(body) <= {"id", "answer_id", "label", "reason"}
        if not has_keys or not isinstance(answer, str) or not isinstance(reason, str) or not is_label:
            raise _Refused(
                400, "expected id, answer_id, and a label of this page or null; reason is optional"
            )
        return _json(self._session.label(_number(id), answer, label, reason))

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(415, "expected JSON")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise _Refused(411, "the length is missing")
        # `int` is slow for thousands of digits, and fails beyond 4,300.
        if len(length) > 9 or int(length) > LONGEST_BODY:
            raise _Refused(413, f"more than {LONGEST_BODY} bytes")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise _Refused(400, "that is not JSON") from None
        if not isinstance(body, dict):
            raise _Refused(400, "expected an object")
        return body

    def _check_host(self) -> None:
        """Refuse another host name: it means that a DNS name was rebound to this address."""
        if self.headers.get_all("Host", []) not in [[name] for name in self._names()]:
            raise _Refused(403, "this server is called by another name")

    def _check_origin(self) -> None:
        if self.headers.get("Origin") not in [f"http://{name}" for name in self._names()]:
            raise _Refused(403, "the request is from another page")

    def _check_token(self) -> None:
        token = self.headers.get(TOKEN, "")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            raise _Refused(403, "open the address that the terminal shows")

    def _names(self) -> list[str]:
        port = self.server.server_address[1]  # type: ignore[index]
        return [f"{name}:{port}" for name in (ADDRESS, "localhost")]

    def _send_problem(self, status: int, reason: str) -> None:
        self.close_connection = True  # what was not read of the request would be taken for the next one
        self._send(status, *_json({"error": reason}))

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _json(value: Any) -> tuple[bytes, str]:
    return quick_json.written(value), "application/json; charset=utf-8"


def _number(value: object) -> int:
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise _Refused(400, "expected the number of an answer")
    return int(text)
