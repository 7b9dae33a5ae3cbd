"""Proxy on 127.0.0.1 before a server of the Model Context Protocol over HTTP, or before plain HTTP tools."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pytest_evalstudio.contrib.tool_proxy.exchange import (
    INVALID,
    Mediator,
    Settings,
    error_message,
    read_message,
    unrecorded_text,
)
from pytest_evalstudio.contrib.tool_proxy.recording import Exchange
from pytest_evalstudio.core.disturbances import ERROR_TEXT, TIMEOUT_TEXT, Disturbance, DisturbanceKind
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.hosts._mcp_relay import MAX_LINE_BYTES

LOOPBACK = ("127.0.0.1", "localhost", "::1")
JSON_TYPE = "application/json"
REQUEST_S = 600.0
"""Longest request to the server, seconds; the agent's own limit ends it earlier."""
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_OF_CONNECTION = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that belong to one connection and are not passed on."""
_RECORDED = ("content-type",)


def serve(url: str, settings: Settings, *, is_mcp: bool, port: int = 0, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Args:
        url: of the server.
        port: 0 for a free one.
        ready: called with the URL of the proxy.

    Raises:
        ConfigurationError: if the URL is none, or the port is in use.
    """
    app, path = application(url, settings, is_mcp=is_mcp)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as exc:
        listening.close()
        raise ConfigurationError(f"--port {port}: {exc.strerror}; choose another, or leave it out") from None
    listening.listen()
    ready(f"http://127.0.0.1:{listening.getsockname()[1]}{path}")
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=2
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()


def application(url: str, settings: Settings, *, is_mcp: bool) -> tuple[Starlette, str]:
    """Return the application of a proxy, and the path at which an agent reaches the server's URL.

    Raises:
        ConfigurationError: if the URL is none.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"--http {url}: is no URL; write e.g. http://127.0.0.1:8000/mcp")
    proxy = (_McpProxy if is_mcp else _ToolProxy)(url, settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with httpx.AsyncClient(timeout=REQUEST_S, follow_redirects=False) as client:
            proxy.client = client
            yield

    route = Route("/{path:path}", proxy.answer, methods=_METHODS)
    return Starlette(routes=[route], lifespan=lifespan), parts.path if is_mcp else ""


class _Proxy:
    """Common part: guards, bodies, requests to the server."""

    client: httpx.AsyncClient

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url
        self._settings = settings
        self._calls: Counter[str] = Counter()

    async def answer(self, request: Request) -> Response:
        """Answer a request of an agent."""
        if not _is_from_here(request):
            return _refused(403, "the proxy serves programs of this machine alone")
        body = await _body(request)
        if body is None:
            return _refused(413, f"the body has more than {MAX_LINE_BYTES:,} bytes")
        return await self._answer(request, body)

    async def _answer(self, request: Request, body: bytes) -> Response:
        raise NotImplementedError

    async def _sent(self, request: Request, url: str, body: bytes) -> httpx.Response | Response:
        """Return the server's reply, still to be read, or a fault for the agent."""
        headers = [
            (name, value) for name, value in request.headers.items() if name.lower() not in _OF_CONNECTION
        ]
        try:
            sent = self.client.build_request(request.method, url, headers=headers, content=body)
            response = await self.client.send(sent, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            return _refused(502, f"the server cannot be reached: {type(exc).__name__}")
        if response.has_redirect_location:
            await response.aclose()
            # An agent that follows it would pass by the proxy.
            return _refused(502, "the server redirects the request; give the proxy the final URL")
        return response


class _McpProxy(_Proxy):
    """Proxy of a server with the transport "streamable HTTP"."""

    async def _answer(self, request: Request, body: bytes) -> Response:
        if request.method != "POST":
            if self._settings.recording is not None and not self._settings.live_tools:
                return Response(status_code=200 if request.method == "DELETE" else 405)
            return await self._passed_on(request, body, None)
        message = read_message(body)
        if message is None:
            text = "the proxy takes single messages of JSON-RPC; send no batch"
            return Response(error_message(None, INVALID, text), 400, media_type=JSON_TYPE)
        # A reply comes with its own request, and ids of other sessions may be the same.
        mediator = Mediator(self._settings, self._calls)
        reply = mediator.from_client(message, request.headers.get("baggage", ""))
        if reply is not None:
            if reply.wait_s:
                await _wait(request, reply.wait_s)
            return Response(reply.message, media_type=JSON_TYPE)
        if self._settings.recording is not None and (message.id is None or not message.method):
            return Response(status_code=202)
        return await self._passed_on(request, body, mediator)

    async def _passed_on(self, request: Request, body: bytes, mediator: Mediator | None) -> Response:
        response = await self._sent(request, self._url, body)
        if isinstance(response, Response):
            return response
        headers = _kept_headers(response.headers)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            events = _mediated_events(response, mediator)
            return StreamingResponse(events, response.status_code, headers=headers)
        content = await _content(response)
        if content is None:
            return _refused(502, f"the reply has more than {MAX_LINE_BYTES:,} bytes")
        return Response(_mediated(content, mediator), response.status_code, headers=headers)


def _mediated(content: bytes, mediator: Mediator | None) -> bytes:
    """Return what the client gets for a message of the server.

    A batch is left out, and without a mediator a reply: in either, a server could hide a definition. Streams
    that are resumed bring no replies, therefore.
    """
    message = read_message(content)
    if message is None:
        return b"" if content.lstrip().startswith(b"[") else content
    if mediator is None:
        return content if message.method else b""
    return mediator.from_server(content, message)


async def _mediated_events(response: httpx.Response, mediator: Mediator | None) -> AsyncIterator[bytes]:
    """Yield the lines of server-sent events with the messages in them as the mediator decides."""
    rest = b""
    try:
        async for part in response.aiter_bytes():
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                yield _mediated_line(line, mediator) + b"\n"
            if len(rest) > MAX_LINE_BYTES:
                return
        if rest:
            yield _mediated_line(rest, mediator)
    except httpx.HTTPError:  # the agent sees that the stream has ended
        return
    finally:
        await response.aclose()


def _mediated_line(line: bytes, mediator: Mediator | None) -> bytes:
    if not line.startswith(b"data:"):
        return line
    data = line.removeprefix(b"data:").strip()
    changed = _mediated(data, mediator)
    return line if changed is data else b"data: " + changed


class _ToolProxy(_Proxy):
    """Proxy of tools by plain HTTP: the path is the name of a tool."""

    async def _answer(self, request: Request, body: bytes) -> Response:
        settings = self._settings
        tool = request.url.path
        earlier = self._calls[tool]
        self._calls[tool] += 1
        if self._calls.total() > settings.max_calls:
            return _refused(429, f"the proxy passes on {settings.max_calls} calls (--max-calls)")
        disturbance = settings.disturbance(tool, earlier, request.headers.get("baggage", ""))
        broken = await self._broken(request, disturbance)
        if broken is not None:
            return broken
        arguments = {"path": tool, "query": request.url.query, "body": _text_or_base64(body)}
        if settings.recording is not None:
            exchange = settings.recording.reply(request.method, tool, arguments)
            if exchange is not None:
                return _http_reply(exchange.status, exchange.headers, exchange.body, disturbance)
            if not settings.is_live(tool):
                settings.note(unrecorded_text(tool))
                return _refused(502, unrecorded_text(tool))
        started = time.perf_counter()
        query = f"?{request.url.query}" if request.url.query else ""
        response = await self._sent(request, f"{self._url.rstrip('/')}{tool}{query}", body)
        if isinstance(response, Response):
            return response
        content = await _content(response)
        if content is None:
            return _refused(502, f"the reply has more than {MAX_LINE_BYTES:,} bytes")
        headers = _kept_headers(response.headers)
        settings.record(
            Exchange(
                tool=tool,
                method=request.method,
                arguments=arguments,
                result=base64.b64encode(content).decode(),
                status=response.status_code,
                headers={name: value for name, value in headers.items() if name in _RECORDED},
                duration_s=round(time.perf_counter() - started, 6),
            )
        )
        return _http_reply(response.status_code, headers, content, disturbance)

    async def _broken(self, request: Request, disturbance: Disturbance | None) -> Response | None:
        """Return a reply for which the tool is not called, None for others."""
        kind = None if disturbance is None else disturbance.kind
        if kind is DisturbanceKind.ERROR:
            return _refused(503, ERROR_TEXT)
        if kind is DisturbanceKind.TIMEOUT:
            await _wait(request, self._settings.timeout_s)
            return _refused(504, TIMEOUT_TEXT)
        return None


def _http_reply(
    status: int, headers: Mapping[str, str], content: bytes, disturbance: Disturbance | None
) -> Response:
    if disturbance is not None:
        content = _disturbed_body(content, headers.get("content-type", ""), disturbance)
    return Response(content, status or 200, headers=dict(headers))


def _disturbed_body(content: bytes, media_type: str, disturbance: Disturbance) -> bytes:
    """Return a body with another text; one that is no text stays as it is, but for truncation."""
    if disturbance.kind is DisturbanceKind.TRUNCATED:
        return content[: len(content) // 2]
    if disturbance.kind is DisturbanceKind.EMPTY:
        return b""
    try:
        if JSON_TYPE in media_type:
            return json.dumps(disturbance.applied(json.loads(content)), ensure_ascii=False).encode()
        return str(disturbance.applied(content.decode())).encode()
    except (ValueError, RecursionError):
        return content


async def _wait(request: Request, seconds: float) -> None:
    """Wait, unless the agent hangs up."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not await request.is_disconnected():
        await asyncio.sleep(min(left, 0.1))


async def _body(request: Request) -> bytes | None:
    """Return the body of a request, None for one that is too long."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_LINE_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


async def _content(response: httpx.Response) -> bytes | None:
    """Return the decoded body of a reply, None for one that is too long or breaks off."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in response.aiter_bytes():
            size += len(part)
            if size > MAX_LINE_BYTES:
                return None
            parts.append(part)
    except httpx.HTTPError:
        return None
    finally:
        await response.aclose()
    return b"".join(parts)


def _is_from_here(request: Request) -> bool:
    """Return whether a request names this machine, so that no page of a browser reaches the tools."""
    hosts = [urlsplit(f"//{request.headers.get('host', '')}").hostname]
    if origin := request.headers.get("origin"):
        hosts.append(urlsplit(origin).hostname)
    return all(host in LOOPBACK for host in hosts)


def _kept_headers(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OF_CONNECTION}


def _refused(status: int, text: str) -> Response:
    return Response(json.dumps({"error": text}), status, media_type=JSON_TYPE)


def _text_or_base64(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return f"base64:{base64.b64encode(body).decode()}"
