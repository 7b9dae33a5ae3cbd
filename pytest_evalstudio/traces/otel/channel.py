"""Requests to a service that takes scores: bounded in time and size, repeated after faults that may pass."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import tenacity
from msgspec import Struct

from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.extras import import_extra

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
REQUEST_S = 15.0
"""Longest time of one attempt, so that a service that trickles holds no run."""
MAX_REPLY_BYTES = 1_000_000
_PART_S = 10.0
"""Longest wait for a part of a reply."""
_ATTEMPTS = 4
_RETRIED = (429, 502, 503, 504)
"""Statuses that OTLP allows to repeat a request after; other services mean the same by them."""
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


class NotSent(EvalStudioError):
    """A service did not accept all scores."""


class _Unavailable(NotSent):
    """Fault that may pass."""


class Reply(Struct, frozen=True):
    """Status and content of a reply."""

    status: int
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Channel:
    """Sends requests to one service."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def post(self, url: str, body: bytes) -> Reply:
        """Send a body of JSON and return the reply, also one that refuses it.

        Raises:
            NotSent: if the service cannot be reached, does not answer whole in time, or redirects.
        """
        return await self._repeated("POST", url, body)

    async def get(self, url: str) -> Reply:
        """Return the reply to a question, as `post`."""
        return await self._repeated("GET", url, None)

    async def _repeated(self, method: str, url: str, body: bytes | None) -> Reply:
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_Unavailable),
            stop=tenacity.stop_after_attempt(_ATTEMPTS),
            wait=tenacity.wait_random_exponential(multiplier=0.2, max=2),
            reraise=True,
        )
        return await retrying(self._attempt, method, url, body)

    async def _attempt(self, method: str, url: str, body: bytes | None) -> Reply:
        import httpx

        content = bytearray()
        try:
            async with (
                asyncio.timeout(REQUEST_S),
                self._client.stream(method, url, content=body, headers=_HEADERS) as reply,
            ):
                if reply.status_code in _RETRIED:
                    raise _Unavailable(f"{url} refused the request with status {reply.status_code}")
                if reply.is_redirect:
                    fact = "redirects to another address, which gets nothing; give its address"
                    raise NotSent(f"{url} {fact}")
                async for part in reply.aiter_raw():
                    content += part
                    if len(content) > MAX_REPLY_BYTES:
                        raise NotSent(f"{url} answers with more than {MAX_REPLY_BYTES:,} bytes")
                return Reply(reply.status_code, bytes(content))
        except TimeoutError:
            raise _Unavailable(f"{url} did not answer within {REQUEST_S:g} s") from None
        except httpx.HTTPError as exc:
            raise _Unavailable(f"{url} cannot be reached: {type(exc).__name__}") from None


def through_channel(task: Callable[[Channel], Awaitable[T]], headers: Mapping[str, str]) -> T:
    """Return the result of a task that sends requests.

    Args:
        headers: of each request.

    Raises:
        ConfigurationError: if httpx is not installed.
    """
    import_extra("httpx", "sending scores", extra="http")
    with ThreadPoolExecutor(1) as thread:  # whose event loop is its own: notebooks have a running one
        return thread.submit(asyncio.run, _with_client(task, headers)).result()


async def _with_client(task: Callable[[Channel], Awaitable[T]], headers: Mapping[str, str]) -> T:
    import httpx

    async with httpx.AsyncClient(headers=headers, timeout=_PART_S, follow_redirects=False) as client:
        return await task(Channel(client))
