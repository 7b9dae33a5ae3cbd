"""Known ways to damage the tool calls of an answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from pytest_evalstudio.core.tool_calls import ToolCall, call_text

Calls = tuple[ToolCall, ...]
CallMutator = Callable[[Calls, random.Random], tuple[Calls, str] | None]
"""Returns damaged calls and what was done to them in words; None where it does not apply."""


def _dropped(calls: Calls, rng: random.Random) -> tuple[Calls, str] | None:
    if not calls:
        return None
    index = rng.randrange(len(calls))
    return calls[:index] + calls[index + 1 :], f"without {_shown(calls[index])}"


def _doubled(calls: Calls, rng: random.Random) -> tuple[Calls, str] | None:
    if not calls:
        return None
    index = rng.randrange(len(calls))
    return (*calls[: index + 1], calls[index], *calls[index + 1 :]), f"{_shown(calls[index])} twice"


def _other_argument(calls: Calls, rng: random.Random) -> tuple[Calls, str] | None:
    candidates = [(index, name) for index, call in enumerate(calls) for name in call.arguments]
    if not candidates:
        return None
    index, name = rng.choice(candidates)
    call = calls[index]
    other = replace(call, arguments={**call.arguments, name: _other(call.arguments[name])})
    return (*calls[:index], other, *calls[index + 1 :]), f"{_shown(other)} instead of {_shown(call)}"


def _other_order(calls: Calls, rng: random.Random) -> tuple[Calls, str] | None:
    candidates = [index for index in range(len(calls) - 1) if calls[index].name != calls[index + 1].name]
    if not candidates:
        return None
    index = rng.choice(candidates)
    first, second = calls[index], calls[index + 1]
    return (*calls[:index], second, first, *calls[index + 2 :]), f"{second.name} before {first.name}"


def _other(value: Any) -> Any:
    # True is an int, too.
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        # Floats from 2 ** 53 are no others after 1 is added.
        return value + 1 if value + 1 != value else value / 2
    if isinstance(value, str):
        return f"{value}1" if value[-1:].isalnum() else f"{value} other"
    if isinstance(value, Sequence):
        return [*value, "other"]
    return "other"


def _shown(call: ToolCall) -> str:
    return call_text(call.name, call.arguments, call.arguments_text)


CALL_MUTATORS: Mapping[str, CallMutator] = {
    "dropped_call": _dropped,
    "doubled_call": _doubled,
    "other_argument": _other_argument,
    "other_order": _other_order,
}
"""Kinds of damage to tool calls."""
