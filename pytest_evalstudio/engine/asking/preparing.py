"""Preparation of corpora, once each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Preparations:
    """Preparations of corpora; all questions on a corpus that cannot be prepared share the fault."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, ...], asyncio.Task[None]] = {}

    async def once(self, corpus: tuple[str, ...], work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Wait until a corpus is prepared.

        Args:
            work: prepares it; called for the first question only.
        """
        task = self._tasks.get(corpus)
        if task is None or task.cancelled():
            task = self._tasks[corpus] = asyncio.create_task(work())
        await asyncio.shield(task)

    async def cancel(self) -> None:
        """End those that are still running."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
