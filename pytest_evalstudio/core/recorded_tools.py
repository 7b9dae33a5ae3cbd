"""Tools whose recorded results can take the place of a call.

`recorded_tool` wraps a function that an agent calls. In an ordinary run it calls the function. While an
answer is replayed, a call that was recorded gets its recorded result, and another one is refused unless the
configuration declares the tool harmless.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar, cast, overload

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.restored import Restored
from pytest_evalstudio.core.tool_calls import ToolCall, call_text

F = TypeVar("F", bound=Callable[..., Any])

_REPLAY: ContextVar[ToolReplay | None] = ContextVar("evalstudio_tool_replay", default=None)
_WRAPPED: set[str] = set()


class ToolFailed(Exception):
    """Recorded error of a tool, raised in place of the error that the tool raised then."""


class ReplayRefused(EvaluationError):
    """A call without a recorded result, of a tool that is not declared harmless."""


class ToolReplay:
    """Calls of wrapped tools by one answer, and the recorded ones that take their place.

    The first call of a tool with some arguments gets the first recorded result for them, the second one the
    second; further ones get the last.

    Args:
        restored: has the calls; None, or None in it, for an ordinary answer.

    Attributes:
        called: names of the wrapped tools that were called.
        refused: the first call that was refused, "" for none. An agent may catch the exception.
    """

    def __init__(self, restored: Restored | None) -> None:
        self._is_replay = restored is not None and restored.calls is not None
        self._live = restored.live_tools if restored is not None else frozenset()
        self._waiting: dict[tuple[str, str], list[ToolCall]] = {}
        self.called: set[str] = set()
        self.refused = ""
        for call in (restored.calls if restored is not None else None) or ():
            self._waiting.setdefault(_identity(call.name, call.arguments), []).append(call)

    def recorded(self, name: str, arguments: dict[str, Any]) -> ToolCall | None:
        """Return the recorded call; None for one that may be made.

        Raises:
            ReplayRefused: if it was not recorded, and must not be made.
        """
        self.called.add(name)
        if not self._is_replay:
            return None
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


@contextlib.contextmanager
def replaying(restored: Restored | None) -> Iterator[ToolReplay]:
    """Note the tools that are called within the context, and give recorded results to them."""
    replay = ToolReplay(restored)
    token = _REPLAY.set(replay)
    try:
        yield replay
    finally:
        _REPLAY.reset(token)


def wrapped_tools() -> frozenset[str]:
    """Return the names of the tools that are wrapped in this process."""
    return frozenset(_WRAPPED)


@overload
def recorded_tool(function: F, /) -> F: ...
@overload
def recorded_tool(*, name: str) -> Callable[[F], F]: ...
def recorded_tool(function: F | None = None, /, *, name: str = "") -> F | Callable[[F], F]:
    """Let recorded results take the place of calls of a tool while an answer is replayed.

    Args:
        function: the tool, a plain or coroutine function.
        name: of the tool in the recorded calls; the function's name where not given.

    >>> @recorded_tool
    ... def get_rate(currency):
    ...     return 9.0
    >>> get_rate("NOK")
    9.0
    >>> call = ToolCall(name="get_rate", arguments={"currency": "NOK"}, result="0.9")
    >>> with replaying(Restored(calls=(call,))):
    ...     get_rate("NOK")
    0.9
    """
    if function is None:
        return lambda wrapped: cast(F, _wrapped(wrapped, name or wrapped.__name__))
    return cast(F, _wrapped(function, name or function.__name__))


def _wrapped(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    _WRAPPED.add(name)
    signature = inspect.signature(function)

    def recorded(*positional: Any, **named: Any) -> ToolCall | None:
        replay = _REPLAY.get()
        if replay is None:
            return None
        bound = signature.bind(*positional, **named)
        return replay.recorded(name, dict(bound.arguments))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(*positional: Any, **named: Any) -> Any:
            call = recorded(*positional, **named)
            return _result(call) if call is not None else await function(*positional, **named)

        return call_async

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        call = recorded(*positional, **named)
        return _result(call) if call is not None else function(*positional, **named)

    return call


def _result(call: ToolCall) -> Any:
    """Return a recorded result as the tool returned it: JSON data, or a text that is no JSON."""
    if call.error:
        raise ToolFailed(call.error)
    if call.result is None:
        return None
    try:
        return json.loads(call.result)
    except ValueError:
        return call.result


def _identity(name: str, arguments: Any) -> tuple[str, str]:
    return name, json.dumps(arguments, sort_keys=True, default=str)
