"""Parts of an earlier answer that an application is to use again in place of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from typing import Any, Literal, Protocol

from msgspec import Struct

from pytest_evalstudio.core.disturbances import (
    MAX_CALLS,
    TIMEOUT_TEXT,
    WITHOUT_RESULT,
    Disturbance,
    DisturbanceKind,
)
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tool_calls import ToolCall, call_text

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


class ToolSource(Protocol):
    """Recording of wrapped tools in a run."""

    def reply(self, name: str, arguments: Mapping[str, Any], earlier: int) -> ToolCall | None:
        """Return the recorded call in place of a call, None for one that is made.

        Args:
            earlier: number of the equal calls by the same answer before it.

        Raises:
            ReplayRefused: if it must not be made.
        """
        ...

    def record(self, call: ToolCall, value: Any) -> None:
        """Record a call that was made, with the value that it returned; the call has its error."""
        ...


class ReplayRefused(EvaluationError):
    """A call without a recorded result, of a tool that is not declared harmless."""


class ToolLimitReached(BaseException):
    """A disturbed answer has called one tool too often; an agent's handlers of errors do not stop it."""


class PendingCall(Struct, frozen=True, kw_only=True):
    """Call of a wrapped tool that has begun.

    Attributes:
        recorded: call whose result takes the place of this one's; None for one that is made.
        disturbance: of its result, None for none.
    """

    name: str
    arguments: Mapping[str, Any]
    recorded: ToolCall | None = None
    disturbance: Disturbance | None = None

    @property
    def kind(self) -> DisturbanceKind | None:
        """Return the kind of the disturbance, None for none."""
        return None if self.disturbance is None else self.disturbance.kind


class ToolReplay:
    """Calls of wrapped tools by one answer, and the recorded ones that take their place.

    The first call of a tool with some arguments gets the first recorded result for them, the second one the
    second; further ones get the last.

    Args:
        restored: has the calls; None, or None in it, for an ordinary answer.
        disturbance: of the results, None for none.
        source: records calls, or replays those of an earlier run; None for neither.

    Attributes:
        called: names of the wrapped tools that were called.
        log: calls of wrapped tools with their disturbed results, where there is a disturbance.
        limit: fault of an answer that was ended for its number of calls, "" for none.
        refused: the first call that was refused, "" for none. An agent may catch the exception.
    """

    def __init__(
        self,
        restored: Restored | None,
        disturbance: Disturbance | None = None,
        source: ToolSource | None = None,
    ) -> None:
        self._source = source
        self._replies: Counter[tuple[str, str]] = Counter()
        self._disturbance = disturbance
        self._counts: Counter[str] = Counter()
        self.log: list[ToolCall] = []
        self.limit = ""
        self._is_replay = restored is not None and restored.calls is not None
        self._live: Collection[str] = restored.live_tools if restored is not None else ()
        self._waiting: dict[tuple[str, str], list[ToolCall]] = {}
        self.called: set[str] = set()
        self.refused = ""
        for call in (restored.calls or ()) if restored is not None else ():
            self._waiting.setdefault(_identity(call.name, call.arguments), []).append(call)

    def recorded(self, name: str, arguments: dict[str, Any]) -> ToolCall | None:
        """Return the recorded call; None for one that may be made.

        Raises:
            ReplayRefused: if it was not recorded, and must not be made.
        """
        self.called.add(name)
        if not self._is_replay:
            return self._from_source(name, arguments)
        waiting = self._waiting.get(_identity(name, arguments))
        if waiting:
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if name in self._live:
            return None
        self.refused = self.refused or call_text(name, arguments)
        raise ReplayRefused(
            f"{call_text(name, arguments)} was not recorded, and the tool is not declared harmless;"
            f" [cause.tools.{name}] replay = true lets a replay call it"
        )

    def _from_source(self, name: str, arguments: dict[str, Any]) -> ToolCall | None:
        if self._source is None:
            return None
        identity = _identity(name, arguments)
        earlier = self._replies[identity]
        self._replies[identity] += 1
        try:
            return self._source.reply(name, arguments, earlier)
        except ReplayRefused:
            self.refused = self.refused or call_text(name, arguments)
            raise

    def begin(self, name: str, arguments: dict[str, Any]) -> PendingCall:
        """Return how a call is to be made.

        Raises:
            ReplayRefused: if it was not recorded, and must not be made.
            ToolLimitReached: if a disturbed answer calls the tool too often.
        """
        recorded = self.recorded(name, arguments)
        if self._disturbance is None:
            return PendingCall(name=name, arguments=arguments, recorded=recorded)
        earlier = self._counts[name]
        self._counts[name] += 1
        if earlier >= MAX_CALLS:
            self.limit = f"the application called {name!r} {MAX_CALLS} times, and was ended"
            raise ToolLimitReached(self.limit)
        disturbance = self._disturbance if self._disturbance.concerns(name, earlier) else None
        return PendingCall(name=name, arguments=arguments, recorded=recorded, disturbance=disturbance)

    def end(self, call: PendingCall, value: Any) -> Any:
        """Return the result of a call as the application gets it."""
        if self._source is not None and call.recorded is None:
            self._source.record(ToolCall(name=call.name, arguments=call.arguments), value)
        if self._disturbance is None:
            return value
        if call.disturbance is not None:
            value = call.disturbance.applied(value)
        result = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
        self.log.append(ToolCall(name=call.name, arguments=call.arguments, result=result))
        return value

    def fail(self, call: PendingCall, error: str) -> None:
        """Note a call that has failed."""
        is_made = call.recorded is None and call.kind not in WITHOUT_RESULT
        if self._source is not None and is_made:
            self._source.record(ToolCall(name=call.name, arguments=call.arguments, error=error), None)
        if self._disturbance is not None:
            self.log.append(ToolCall(name=call.name, arguments=call.arguments, error=error or TIMEOUT_TEXT))

    # A class with these two costs half of a generator; every answer of an application has one.
    def __enter__(self) -> ToolReplay:
        """Note the tools that are called within the context, and give recorded results to them."""
        self._token = TOOL_REPLAY.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        TOOL_REPLAY.reset(self._token)


def _identity(name: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    return name, json.dumps(arguments, sort_keys=True, default=str)


TOOL_REPLAY: ContextVar[ToolReplay | None] = ContextVar("evalstudio_tool_replay", default=None)
"""Replay of the answer that is being made; None outside of answers."""
