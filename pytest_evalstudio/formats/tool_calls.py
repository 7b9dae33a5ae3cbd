"""Calls of tools in files: those that a model made, and those that a case expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

import msgspec
from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from pytest_evalstudio.core.errors import nearest
from pytest_evalstudio.core.states import state_text
from pytest_evalstudio.core.steps import Step, StepKind, read_steps
from pytest_evalstudio.core.tool_calls import (
    NO_ARGUMENTS,
    ExpectedToolCall,
    OtherArguments,
    ToolCall,
    read_tool_calls,
)
from pytest_evalstudio.formats.matchers import matcher_fault
from pytest_evalstudio.formats.packed import packed

_KEYS = frozenset({"name", "arguments", "other_arguments"})
_OTHER_ARGUMENTS = tuple(word for word in get_args(OtherArguments) if word)


def read_expected_calls(value: object) -> list[ExpectedToolCall] | None:
    """Read the calls that a case expects.

    Args:
        value: a list of objects with `name`, `arguments` and `other_arguments`, or of names of tools; None
            where the case expects nothing of them.

    Raises:
        ValueError: if one is faulty; the message says which and why.
    """
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise ValueError('expected a list of calls, e.g. [{"name": "search", "arguments": {"query": "fee"}}]')
    # None sends the list to the slow way, whose messages say what is wrong.
    if isinstance(value, list) and (plain := _plain_calls(value)) is not None:
        return plain
    calls = []
    for index, item in enumerate(value):
        try:
            calls.append(_expected_call(item))
        except ValueError as exc:
            raise ValueError(f"call {index}: {exc}") from None
    return calls


def _plain_calls(values: list[Any]) -> list[ExpectedToolCall] | None:
    """Return expected calls whose fields have their types, without matchers; None for others.

    As with the calls of a model, this is much faster than reading them one by one.
    """
    if not all(value.__class__ is dict and value.keys() <= _KEYS for value in values):
        return None
    try:
        calls = msgspec.convert(values, list[ExpectedToolCall])
    except msgspec.ValidationError:
        return None
    plain = all(
        call.name.strip() and all(isinstance(part, _PLAIN) for part in call.arguments.values())
        for call in calls
    )
    return calls if plain else None


# An object or list among the arguments may be a matcher, which has to be checked.
_PLAIN = (str, int, float, type(None))


def _expected_call(value: object) -> ExpectedToolCall:
    if isinstance(value, ExpectedToolCall):
        return value
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping):
        raise ValueError("expected an object with the name of a tool")
    if not value.keys() <= _KEYS:
        unknown = [key for key in value if key not in _KEYS]
        hint = nearest(str(unknown[0]), _KEYS) or f"There are: {', '.join(sorted(_KEYS))}."
        raise ValueError(f"{unknown[0]!r} is not a key of an expected call. {hint}")
    name, arguments = value.get("name"), value.get("arguments")
    if not isinstance(name, str) or not name.strip():
        raise ValueError('the name of the tool is missing; write {"name": "search"}')
    if arguments is not None and not isinstance(arguments, Mapping):
        raise ValueError('arguments: expected an object, e.g. {"query": "fee"}')
    other: Any = value.get("other_arguments") or ""
    if other and other not in _OTHER_ARGUMENTS:
        raise ValueError('other_arguments: expected "allow" or "forbid"')
    for key, expected in (arguments or NO_ARGUMENTS).items():
        if fault := matcher_fault(expected):
            raise ValueError(f"argument {key!r}: {fault}")
    return ExpectedToolCall(name=name, arguments=dict(arguments or NO_ARGUMENTS), other_arguments=other)


def read_expected_state(value: object) -> dict[str, Any]:
    """Read the state that a case expects: JSON pointers to values or matchers.

    Raises:
        ValueError: if a pointer or matcher is faulty.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError('expected an object of JSON pointers, e.g. {"/bookings/E1/status": "cancelled"}')
    for pointer, expected in value.items():
        if pointer and not str(pointer).startswith("/"):
            raise ValueError(f"{pointer!r}: a JSON pointer begins with /")
        if fault := matcher_fault(expected):
            raise ValueError(f"{pointer}: {fault}")
    return dict(value)


def _calls(value: object) -> Sequence[ToolCall]:
    return packed(list(read_tool_calls(value)), ToolCall)


def _expected_calls(value: object) -> Sequence[ExpectedToolCall] | None:
    calls = read_expected_calls(value)
    return calls if calls is None else packed(calls, ExpectedToolCall)


_ANY_CALLS: dict[str, Any] = {
    "type": "array",
    "items": {"anyOf": [{"type": "string"}, {"type": "object"}]},
}
_EXPECTED_CALLS: dict[str, Any] = {
    "anyOf": [
        {
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "arguments": {"type": "object"},
                            "other_arguments": {"enum": ["", *_OTHER_ARGUMENTS]},
                        },
                        "required": ["name"],
                        "additionalProperties": False,
                    },
                ]
            },
        },
        {"type": "null"},
    ]
}
ToolCalls = Annotated[Sequence[ToolCall], PlainValidator(_calls), WithJsonSchema(_ANY_CALLS)]
"""Calls of a model, in the form of any service; null counts as none."""
ExpectedToolCalls = Annotated[
    Sequence[ExpectedToolCall] | None, PlainValidator(_expected_calls), WithJsonSchema(_EXPECTED_CALLS)
]
"""Calls that a case expects; null where it says nothing of them, [] for no call."""
ExpectedStateField = Annotated[
    dict[str, Any], BeforeValidator(read_expected_state), WithJsonSchema({"type": ["object", "null"]})
]
"""State that a case expects: JSON pointers to values or matchers; null for none."""


def with_steps(data: object) -> object:
    """Return the data of an answer whose `steps` are read; calls that stand in them become its `tool_calls`.

    Raises:
        ValueError: if a step or call is faulty.
    """
    if not isinstance(data, Mapping) or not data.get("steps"):
        return data
    calls = read_tool_calls(data.get("tool_calls"))
    context = data.get("context")
    steps, calls = read_steps(data["steps"], calls, chunks=len(context) if isinstance(context, list) else 0)
    return {**data, "steps": steps, "tool_calls": calls}


def _steps(value: object) -> Sequence[Step]:
    if value is None:
        return []
    if not isinstance(value, Sequence) or not all(isinstance(step, Step) for step in value):
        raise ValueError("expected a list of steps")
    return packed(list(value), Step)


Steps = Annotated[
    Sequence[Step],
    PlainValidator(_steps),
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"kind": {"enum": list(get_args(StepKind))}},
                "required": ["kind"],
            },
        }
    ),
]
"""Steps of an answer, read by `with_steps`; null counts as none."""


def _state(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else state_text(value)


JsonState = Annotated[str | None, BeforeValidator(_state), WithJsonSchema({})]
"""State of an application: any JSON value, kept as text; null where it is not known."""
