"""Parts of an earlier answer that an application is to use again in place of its own."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pytest_evalstudio.core.tool_calls import ToolCall

RestorablePart = Literal["chunks", "calls"]
"""Part that a host can take from an earlier answer: retrieved chunks, or recorded results of tools."""


class Restored(Struct, frozen=True, kw_only=True):
    """Parts of an earlier answer; None for a part that the application makes anew.

    Attributes:
        chunks: texts that are used in place of a retrieval, in their order.
        sources: a URI per chunk, or none.
        scores: relevance per chunk, or none.
        calls: recorded calls of tools; a call of the same tool with the same arguments gets their result.
        live_tools: tools that may be called where no recorded result fits, since they change nothing.
    """

    chunks: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    calls: tuple[ToolCall, ...] | None = None
    live_tools: frozenset[str] = frozenset()

    @property
    def parts(self) -> frozenset[RestorablePart]:
        """Return the parts that are not made anew."""
        parts: dict[RestorablePart, object] = {"chunks": self.chunks, "calls": self.calls}
        return frozenset(part for part, value in parts.items() if value is not None)
