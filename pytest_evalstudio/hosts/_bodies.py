"""Bodies of replies, read up to a limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from inspect import isasyncgen
from typing import Any

from pytest_evalstudio.core.plugins.host import HostFault

BYTES_PER_CHAR = 12
"""An answer and a context of the greatest length, each character as an escape of six bytes."""
OTHER_BYTES = 1_000_000
"""For all other fields of a reply."""


def max_reply_size(max_text_chars: int) -> int:
    """Return the bytes of a reply, or the characters of an answer, that are read and stored at most."""
    return BYTES_PER_CHAR * max_text_chars + OTHER_BYTES


def limit_body(response: Any, url: str, max_text_chars: int) -> None:
    """Let the body of a reply be read up to a limit only, decompressed, whole or in parts.

    Args:
        response: of httpx, or of the library under whose name a client installs it.
        url: of the service, for the message.
        max_text_chars: of the configuration.

    Raises:
        HostFault: by the reading, where the body is longer.
    """
    read, close = response.aiter_bytes, response.aclose
    max_bytes = max_reply_size(max_text_chars)
    readings: list[AsyncGenerator[bytes, None]] = []

    async def limited(*arguments: Any, **options: Any) -> AsyncGenerator[bytes, None]:
        size = 0
        async with aclosing(read(*arguments, **options)) as parts:
            async for part in parts:
                size += len(part)
                if size > max_bytes:
                    raise HostFault(
                        f"{url} sent more than {max_bytes:,} bytes, which is more than max_text_chars ="
                        f" {max_text_chars:,} allows; check the service, or raise max_text_chars"
                    )
                yield part

    def read_limited(*arguments: Any, **options: Any) -> AsyncGenerator[bytes, None]:
        readings.append(limited(*arguments, **options))
        return readings[-1]

    async def close_readings() -> None:
        # A client that stops at a faulty part leaves the reading open. The garbage collector would close it
        # in any thread, while that of the loop runs.
        for reading in readings:
            if isasyncgen(reading) and not reading.ag_running:  # the last part closes the response itself
                await reading.aclose()
        readings.clear()
        await close()

    response.aiter_bytes, response.aclose = read_limited, close_readings


def reply_limit(url: str, max_text_chars: int) -> Callable[[Any], Awaitable[None]]:
    """Return the hook of httpx that limits the length of a reply; see `limit_body`."""

    async def limit(response: Any) -> None:
        limit_body(response, url, max_text_chars)

    return limit
