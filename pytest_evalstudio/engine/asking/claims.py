"""Claims on questions, so that several workers and runs ask an identical one once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pytest_evalstudio.engine.asking.answers import LEASE_S, AnswerCache


@asynccontextmanager
async def claimed(cache: AnswerCache | None, key: str) -> AsyncIterator[bool]:
    """Claim a question while the context lasts, and renew the claim.

    Yields False if another process is asking it.

    Args:
        cache: where claims are kept; without one every question may be asked.
        key: address of the answer; "" where it is not kept.
    """
    if cache is None or not key:
        yield True
        return
    token = cache.claim(key)
    if not token:
        yield False
        return

    async def renew() -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            cache.renew(key, token)

    renewing = asyncio.create_task(renew())
    try:
        yield True
    finally:
        renewing.cancel()
        cache.release(key, token)
