"""Calls of an agent beside the baseline's: what a tool returned otherwise, and where the agent diverges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.core.tool_calls import ToolCall, call_text

RESULT_CHARS = 80
CALLS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultChange:
    """A call in both trajectories with another result."""

    then: ToolCall
    now: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """First call that differs.

    Attributes:
        number: of the call, from 1.
        then, now: the calls; None where a trajectory has ended.
        before: calls that both made before, with the results of today.
        is_moved: whether the baseline's call comes later today.
    """

    number: int
    then: ToolCall | None
    now: ToolCall | None
    before: tuple[ToolCall, ...]
    is_moved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """Two trajectories up to their first different call.

    Attributes:
        results: changes of results before that call, in order.
        divergence: None where all calls are the same.
    """

    results: tuple[ResultChange, ...] = ()
    divergence: Divergence | None = None

    @property
    def changed_tools(self) -> tuple[str, ...]:
        """Return the tools with another result, in the order of their calls."""
        return tuple(dict.fromkeys(change.now.name for change in self.results))

    def result_of(self, tool: str) -> ResultChange:
        """Return the first changed result of a tool."""
        return next(change for change in self.results if change.now.name == tool)


def compared(then: Sequence[ToolCall], now: Sequence[ToolCall]) -> Trajectories:
    """Compare two trajectories call by call up to the first different call.

    Args:
        then: calls of the baseline.
        now: calls of today, in the form of a record, so that both are masked alike.
    """
    results: list[ResultChange] = []
    for index in range(max(len(then), len(now))):
        first = then[index] if index < len(then) else None
        second = now[index] if index < len(now) else None
        if first is None or second is None or identity(first) != identity(second):
            divergence = Divergence(
                number=index + 1,
                then=first,
                now=second,
                before=tuple(now[:index]),
                is_moved=first is not None and any(call.name == first.name for call in now[index + 1 :]),
            )
            return Trajectories(results=tuple(results), divergence=divergence)
        if _is_known(first) and _is_known(second) and _outcome(first) != _outcome(second):
            results.append(ResultChange(then=first, now=second))
    return Trajectories(results=tuple(results))


def identity(call: ToolCall) -> tuple[str, str]:
    """Return tool and arguments of a call."""
    return call.name, call.arguments_text or json.dumps(call.arguments, sort_keys=True, default=str)


def _is_known(call: ToolCall) -> bool:
    return call.result is not None or bool(call.error)


def _outcome(call: ToolCall) -> tuple[str | None, str]:
    return call.result, call.error


def outcome_text(call: ToolCall) -> str:
    """Return what a tool returned, for a message."""
    if call.error:
        return f"the error {excerpt(call.error, RESULT_CHARS)!r}"
    return excerpt(call.result or "nothing", RESULT_CHARS)


def tool_sentence(change: ResultChange) -> str:
    """Return the change of a result.

    >>> then = ToolCall(name="get_rate", result="9.0")
    >>> tool_sentence(ResultChange(then=then, now=ToolCall(name="get_rate", result="0.9")))
    'returned 0.9 instead of 9.0'
    """
    return f"returned {outcome_text(change.now)} instead of {outcome_text(change.then)}"


def divergence_sentence(divergence: Divergence) -> str:
    """Return how the agent calls its tools otherwise."""
    then, now = divergence.then, divergence.now
    if now is None:
        assert then is not None  # a trajectory diverges by a call
        return f"no longer calls `{then.name}` as call {divergence.number}"
    if then is None:
        return f"calls `{now.name}` as call {divergence.number}, where it had ended"
    if then.name == now.name:
        return f"calls {_shown(now)} instead of {_shown(then)}"
    order = "before" if divergence.is_moved else "instead of"
    return f"calls `{now.name}` {order} `{then.name}`"


def before_sentence(divergence: Divergence) -> str:
    """Return the results that both trajectories had seen before the different call; "" for none."""
    calls = divergence.before[-CALLS_SHOWN:]
    if not calls:
        return ""
    return "before it: " + "; ".join(f"{_shown(call)} returned {outcome_text(call)}" for call in calls)


def _shown(call: ToolCall) -> str:
    return f"`{excerpt(call_text(call.name, call.arguments, call.arguments_text), RESULT_CHARS)}`"
