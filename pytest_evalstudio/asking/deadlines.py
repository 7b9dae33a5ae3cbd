"""Time limits of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from pytest_evalstudio.core.errors import exception_text
from pytest_evalstudio.core.plugins.host import HostFault

T = TypeVar("T")


class TimeIsUp(HostFault):
    """A request that took longer than its limit; another attempt can help."""


async def within(work: Awaitable[T], seconds: float | None, option: str, fact: str = "no answer") -> T:
    """Return the result of a request.

    Args:
        seconds: None for no limit.
        option: name of the limit, for the message.
        fact: consequence of the limit, for the message.

    Raises:
        TimeIsUp: if it takes longer.
        HostFault: for a TimeoutError of its own.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            return await work
    except TimeoutError as exc:
        if not limit.expired():
            raise HostFault(exception_text(exc), retry=True) from exc
        raise TimeIsUp(
            f"{fact} within {seconds:g} s (`{option}`)", retry=True, cause=f"timeout_{option}"
        ) from None
