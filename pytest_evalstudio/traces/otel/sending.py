"""Sends events to a collector by OTLP over HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.traces.otel.channel import Channel, NotSent, through_channel

HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""Variable of the OpenTelemetry SDKs: headers of each request, as `name=value` with commas between."""
_PATH = "/v1/logs"


def send(url: str, requests: Iterable[tuple[bytes, int]]) -> int:
    """Send requests of `events.requests`, and return the number of events that the collector accepted.

    Args:
        url: address of the collector; the path of the log service is added to an address without one.
        requests: bodies, each with the number of its events.

    Raises:
        ConfigurationError: if the address or a header is not valid, or httpx is not installed.
        NotSent: if a request fails; those before it were accepted.
    """
    target = log_address(url)

    async def send_all(channel: Channel) -> int:
        return sum([count - await _rejected(channel, target, body) for body, count in requests])

    return through_channel(send_all, _headers())


def log_address(url: str) -> str:
    """Return the address of the log service of a collector.

    >>> log_address("http://127.0.0.1:4318")
    'http://127.0.0.1:4318/v1/logs'
    >>> log_address("https://collector.example/otlp/v1/logs")
    'https://collector.example/otlp/v1/logs'

    Raises:
        ConfigurationError: if it is no address of HTTP, or holds a user or password.
    """
    address = service_address(url, HEADERS)
    return address if urlsplit(address).path.strip("/") else address.rstrip("/") + _PATH


def service_address(url: str, keys: str) -> str:
    """Return the address of a service.

    Args:
        keys: variables of the environment with its keys, for the message.

    Raises:
        ConfigurationError: if it is no address of HTTP, or holds a user, a password, a query or a fragment.
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
            f"the address of the collector holds a user, a query or a fragment; set keys by {keys}"
        )
    return url


async def _rejected(channel: Channel, target: str, body: bytes) -> int:
    """Send a request and return how many of its events were rejected; 0 where the reply does not say.

    Raises:
        NotSent: if the collector refuses the request.
    """
    reply = await channel.post(target, body)
    if not reply.is_success:
        raise NotSent(f"{target} refused the events with status {reply.status}")
    try:
        partial = json.loads(reply.content).get("partialSuccess") or {}
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
