"""Results of frameworks that arrive in parts: they are joined before they are read."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.hosts._frameworks.llama_index import retrieved
from pytest_evalstudio.hosts._frameworks.parts import roots

Called = Callable[..., Awaitable[Any]]
"""Calls the user's code: `_callables.called` with its keyword `blocks`."""
_STREAMS = frozenset({"StreamingResponse", "AsyncStreamingResponse", "StreamingAgentChatResponse"})


async def joined(result: Any, began: float, called: Called) -> object:
    """Return the answer of a stream of LlamaIndex; any other result as it is.

    Args:
        began: time at which the call began, by `time.perf_counter`.
        called: calls code, in another thread where it blocks.

    Raises:
        HostFault: if the stream fails.
    """
    if type(result).__name__ not in _STREAMS or "llama_index" not in roots(result):
        return result
    parts = _Parts(began)
    if getattr(result, "response_txt", None) is not None:  # it was read to its end before
        parts.add(result.response_txt)
    elif _is_async(result):
        await called(lambda: parts.take_async(result), blocks=False)
    else:
        await called(lambda: parts.take(result))
    return Answer(
        text="".join(parts.texts),
        first_token_s=parts.first_token_s,
        **retrieved(result.source_nodes),
    )


class _Parts:
    """Parts of a stream, and the time of the first one."""

    def __init__(self, began: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.texts: list[str] = []
        self.first_token_s: float | None = None
        self._began, self._clock = began, clock

    def add(self, text: str) -> None:
        if text and self.first_token_s is None:
            self.first_token_s = self._clock() - self._began
        self.texts.append(text)

    def take(self, result: Any) -> None:
        for text in result.response_gen:
            self.add(text)

    async def take_async(self, result: Any) -> None:
        async for text in result.async_response_gen():
            self.add(text)


def _is_async(result: Any) -> bool:
    return type(result).__name__.startswith("Async") or getattr(result, "achat_stream", None) is not None
