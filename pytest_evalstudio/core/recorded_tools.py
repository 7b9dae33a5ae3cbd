"""Tools whose recorded results can take the place of a call, and whose results can be disturbed.

`recorded_tool` wraps a function that an agent calls. In an ordinary run it calls the function. While an
answer is replayed, a call that was recorded gets its recorded result, and another one is refused unless the
configuration declares the tool harmless. While a disturbed question is answered, calls fail or results are
changed as its disturbance says.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

from pytest_evalstudio.core.disturbances import ERROR_TEXT, TIMEOUT_TEXT, DisturbanceKind
from pytest_evalstudio.core.errors import exception_text
from pytest_evalstudio.core.restored import TOOL_REPLAY, ToolReplay
from pytest_evalstudio.core.tool_calls import ToolCall

F = TypeVar("F", bound=Callable[..., Any])

_WRAPPED: set[str] = set()


class ToolFailed(Exception):
    """Recorded error of a tool, raised in place of the error that the tool raised then."""


def wrapped_tools() -> frozenset[str]:
    """Return the names of the tools that are wrapped in this process."""
    return frozenset(_WRAPPED)


@overload
def recorded_tool(function: F, /) -> F: ...
@overload
def recorded_tool(*, name: str) -> Callable[[F], F]: ...
def recorded_tool(function: F | None = None, /, *, name: str = "") -> F | Callable[[F], F]:
    """Let recorded results take the place of calls of a tool in a replay, and disturbances change them.

    Args:
        function: the tool, a plain or coroutine function.
        name: of the tool in the recorded calls; the function's name where not given.

    >>> from pytest_evalstudio.core.restored import Restored, ToolReplay
    >>> @recorded_tool
    ... def get_rate(currency):
    ...     return 9.0
    >>> get_rate("NOK")
    9.0
    >>> call = ToolCall(name="get_rate", arguments={"currency": "NOK"}, result="0.9")
    >>> with ToolReplay(Restored(calls=(call,))):
    ...     get_rate("NOK")
    0.9
    """
    if function is None:
        return lambda wrapped: cast(F, _wrapped(wrapped, name or wrapped.__name__))
    return cast(F, _wrapped(function, name or function.__name__))


def _wrapped(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    _WRAPPED.add(name)
    signature = inspect.signature(function)

    def data_of(positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        arguments = signature.bind(*positional, **named).arguments
        # Frameworks pass objects of their own, e.g. a context, which are no arguments of the call.
        return {key: value for key, value in arguments.items() if _is_data(value)}

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(*positional: Any, **named: Any) -> Any:
            replay = TOOL_REPLAY.get()
            if replay is None:
                return await function(*positional, **named)
            with _Begun(replay, name, data_of(positional, named)) as begun:
                if not begun.is_answered:
                    begun.value = await function(*positional, **named)
            return begun.value

        return call_async

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        replay = TOOL_REPLAY.get()
        if replay is None:
            return function(*positional, **named)
        with _Begun(replay, name, data_of(positional, named)) as begun:
            if not begun.is_answered:
                begun.value = function(*positional, **named)
        return begun.value

    return call


class _Begun:
    """A call of a tool between its beginning and its end, as a context.

    Attributes:
        is_answered: whether a recorded result takes the place of the tool's.
        value: result of the call; after the context as the application gets it.
    """

    def __init__(self, replay: ToolReplay, name: str, arguments: dict[str, Any]) -> None:
        self._replay = replay
        self._call = replay.begin(name, arguments)
        self.is_answered = False
        self.value: Any = None

    def __enter__(self) -> _Begun:
        try:
            if self._call.kind is DisturbanceKind.ERROR:
                raise ToolFailed(ERROR_TEXT)
            if self._call.kind is DisturbanceKind.TIMEOUT:
                raise TimeoutError(TIMEOUT_TEXT)
            if self._call.recorded is not None:
                self.value, self.is_answered = _result(self._call.recorded), True
        except Exception as exc:
            self._replay.fail(self._call, str(exc))
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: object) -> None:
        if fault is None:
            self.value = self._replay.end(self._call, self.value)
        else:
            self._replay.fail(self._call, exception_text(fault))


def _is_data(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _result(call: ToolCall) -> Any:
    """Return a recorded result as the tool returned it: JSON data, or a text that is not JSON."""
    if call.error:
        raise ToolFailed(call.error)
    if call.result is None:
        return None
    try:
        return json.loads(call.result)
    except ValueError:
        return call.result
