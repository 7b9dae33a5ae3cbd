"""Bodies of replies, read up to a limit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
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
    read = response.aiter_bytes
    max_bytes = max_reply_size(max_text_chars)

    async def limited(*arguments: Any, **options: Any) -> AsyncIterator[bytes]:
        size = 0
        async for part in read(*arguments, **options):
            size += len(part)
            if size > max_bytes:
                raise HostFault(
                    f"{url} sent more than {max_bytes:,} bytes, which is more than max_text_chars ="
                    f" {max_text_chars:,} allows; check the service, or raise max_text_chars"
                )
            yield part

    response.aiter_bytes = limited


def reply_limit(url: str, max_text_chars: int) -> Callable[[Any], Awaitable[None]]:
    """Return the hook of httpx that limits the length of a reply; see `limit_body`."""

    async def limit(response: Any) -> None:
        limit_body(response, url, max_text_chars)

    return limit
