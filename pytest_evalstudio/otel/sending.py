"""Sends events to a collector by OTLP over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import tenacity

from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.core.extras import import_extra

if TYPE_CHECKING:
    import httpx

HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""Variable of the OpenTelemetry SDKs: headers of each request, as `name=value` with commas between."""
_PATH = "/v1/logs"
_RETRIED = (429, 502, 503, 504)
"""Statuses that OTLP allows to repeat a request after."""
_TIMEOUT_S = 10.0
"""Longest wait for a part of a reply."""
REQUEST_S = 15.0
"""Longest time of one attempt, so that a collector that trickles holds no run."""
MAX_REPLY_BYTES = 1_000_000
_ATTEMPTS = 4
_JSON = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


class NotSent(EvalStudioError):
    """The collector did not accept all events."""


class _Unavailable(NotSent):
    """Fault that may pass."""


def send(url: str, requests: Iterable[tuple[bytes, int]]) -> int:
    """Send requests of `events.requests`, and return the number of events that the collector accepted.

    Args:
        url: address of the collector; the path of the log service is added to an address without one.
        requests: bodies, each with the number of its events.

    Raises:
        ConfigurationError: if the address or a header is not valid, or httpx is not installed.
        NotSent: if a request fails; those before it were accepted.
    """
    import_extra("httpx", "sending events", extra="http")
    target, headers = log_address(url), _headers()
    with ThreadPoolExecutor(1) as thread:  # whose event loop is its own: notebooks have a running one
        return thread.submit(asyncio.run, _send_all(target, headers, requests)).result()


async def _send_all(target: str, headers: Mapping[str, str], requests: Iterable[tuple[bytes, int]]) -> int:
    import httpx

    sent = 0
    async with httpx.AsyncClient(headers=headers, timeout=_TIMEOUT_S, follow_redirects=False) as client:
        for body, count in requests:
            sent += count - await _send_one(client, target, body)
    return sent


def log_address(url: str) -> str:
    """Return the address of the log service of a collector.

    >>> log_address("http://127.0.0.1:4318")
    'http://127.0.0.1:4318/v1/logs'
    >>> log_address("https://collector.example/otlp/v1/logs")
    'https://collector.example/otlp/v1/logs'

    Raises:
        ConfigurationError: if it is no address of HTTP, or holds a user or password.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise ConfigurationError(
            "the address of the collector is not valid; give one like http://127.0.0.1:4318"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            f"the address of the collector holds a user, a query or a fragment; set keys by {HEADERS}"
        )
    return url if parts.path.strip("/") else url.rstrip("/") + _PATH


async def _send_one(client: httpx.AsyncClient, target: str, body: bytes) -> int:
    """Send a request, again after faults that may pass, and return how many of its events were rejected."""
    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type(_Unavailable),
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=0.2, max=2),
        reraise=True,
    )
    return await retrying(_attempt, client, target, body)


async def _attempt(client: httpx.AsyncClient, target: str, body: bytes) -> int:
    """Send a request once and return how many of its events were rejected.

    Raises:
        NotSent: if the collector refuses it, or does not answer whole in time.
    """
    import httpx

    try:
        async with (
            asyncio.timeout(REQUEST_S),
            client.stream("POST", target, content=body, headers=_JSON) as reply,
        ):
            if reply.status_code in _RETRIED:
                raise _Unavailable(f"{target} refused the events with status {reply.status_code}")
            if reply.is_redirect:
                raise NotSent(f"{target} redirects to another address, which gets nothing; give its address")
            if not reply.is_success:
                raise NotSent(f"{target} refused the events with status {reply.status_code}")
            content = bytearray()
            async for part in reply.aiter_raw():
                content += part
                if len(content) > MAX_REPLY_BYTES:
                    raise NotSent(
                        f"{target} answers with more than {MAX_REPLY_BYTES:,} bytes; it is no collector"
                    )
            return _rejected(content)
    except TimeoutError:
        raise _Unavailable(f"{target} did not answer within {REQUEST_S:g} s") from None
    except httpx.HTTPError as exc:
        raise _Unavailable(f"{target} cannot be reached: {type(exc).__name__}") from None


def _rejected(content: bytes | bytearray) -> int:
    """Return the number of rejected events of a partial success; 0 for a reply that says nothing of them."""
    try:
        partial = json.loads(content).get("partialSuccess") or {}
        return max(0, int(partial.get("rejectedLogRecords") or 0))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return 0


def _headers() -> Mapping[str, str]:
    """Return the headers of the environment.

    Raises:
        ConfigurationError: if they are not `name=value` pairs; the values are not repeated.
    """
    pairs = [pair.strip() for pair in os.environ.get(HEADERS, "").split(",") if pair.strip()]
    headers = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        value = unquote(value.strip())
        if not (sign and name.strip().isascii() and value.isascii() and value.isprintable()):
            raise ConfigurationError(f"{HEADERS}: expected name=value pairs with commas between")
        headers[name.strip()] = value
    return headers
