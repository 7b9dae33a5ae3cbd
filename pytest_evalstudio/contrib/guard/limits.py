"""Limits of a request: the token, the size of its body, and the time that the body may take to arrive."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token: a load balancer asks them."""


class _Disconnected(Exception):
    """The connection has ended before the body was complete."""


class RequestLimits:
    """ASGI middleware that refuses what is unauthorised, too large or too slow, before it is parsed.

    Args:
        app: the application behind it.
        token: bearer token; "" for none.
        most_bytes: of a body.
        body_s: seconds in which the whole body must arrive.
    """

    def __init__(self, app: App, *, token: str, most_bytes: int, body_s: float) -> None:
        self._app = app
        self._token = token.encode()
        self._most_bytes = most_bytes
        self._body_s = body_s

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if self._token and scope["path"] not in OPEN_PATHS and not self._is_authorised(headers):
            await _refuse(send, 401, "the bearer token is missing or wrong")
            return
        length = headers.get(b"content-length", b"")
        # `int` is slow for thousands of digits, and fails beyond 4,300.
        if length.isdigit() and (len(length) > 12 or int(length) > self._most_bytes):
            await _refuse(send, 413, f"the request is longer than {self._most_bytes} bytes")
            return
        try:
            body = await self._body(receive)
        except TimeoutError:
            await _refuse(send, 408, f"the request did not arrive within {self._body_s:g} s")
            return
        except _Disconnected:
            return
        if body is None:
            await _refuse(send, 413, f"the request is longer than {self._most_bytes} bytes")
            return
        await self._app(scope, _replayed(body, receive), send)

    def _is_authorised(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, credentials = headers.get(b"authorization", b"").partition(b" ")
        # The token first and in constant time, so that the duration tells nothing of it.
        return hmac.compare_digest(credentials.strip(), self._token) and scheme.lower() == b"bearer"

    async def _body(self, receive: Receive) -> bytes | None:
        """Return the whole body, None if it is too long.

        Raises:
            TimeoutError: if it takes too long to arrive.
            _Disconnected: if the connection ends before.
        """
        parts: list[bytes] = []
        size = 0
        async with asyncio.timeout(self._body_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Disconnected
                part = message.get("body", b"")
                size += len(part)
                if size > self._most_bytes:
                    return None
                parts.append(part)
                if not message.get("more_body"):
                    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives the body once, then what comes after it."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _refuse(send: Send, status: int, reason: str) -> None:
    content = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    else:
        # The rest of the body may be on its way, and is not read.
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
