"""Calls of tools by a model: one type, read from the forms of all services."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.text.unicode import valid_json

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})
MAX_DEPTH = 100
"""Maximum depth of arguments; deeper ones stay text, so that no recursive function reaches Python's limit."""
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
OtherArguments = Literal["", "allow", "forbid"]
"""Verdict on arguments that an expectation does not name; "" for what the evaluator's options say."""


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Call of a tool.

    Attributes:
        name: the tool, as the service names it; "" where a call has no name.
        arguments: by name; empty where they are not a JSON object.
        arguments_text: the arguments as the service sent them, where they are not a JSON object, or are
            nested more than `MAX_DEPTH` deep.
        id: the service's id of the call.
        result: what the tool returned, JSON as text; None where that is not known.
        error: what went wrong in the tool.
        agent: name of the agent that called.
        started_s: start in seconds since the epoch; None where it is not known.
        duration_s: seconds that the tool took.
    """

    name: Annotated[str, Kept.ID]
    arguments: Mapping[str, Any] = {}
    arguments_text: str = ""
    id: Annotated[str, Kept.ID] = ""
    result: Annotated[str | None, Kept.LONG] = None
    error: str = ""
    agent: Annotated[str, Kept.ID] = ""
    started_s: float | None = None
    duration_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the call as JSON data; fields without a value are left out."""
        # Written out: an answer can have hundreds of calls, and a loop over the fields takes twice as long.
        data: dict[str, Any] = {"name": self.name, "arguments": dict(self.arguments)}
        if self.arguments_text:
            data["arguments_text"] = self.arguments_text
        if self.id:
            data["id"] = self.id
        if self.result:
            data["result"] = self.result
        if self.error:
            data["error"] = self.error
        if self.agent:
            data["agent"] = self.agent
        if self.started_s is not None:
            data["started_s"] = self.started_s
        if self.duration_s is not None:
            data["duration_s"] = self.duration_s
        return data


class ExpectedToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Call that a case expects.

    Attributes:
        name: the tool.
        arguments: expected value or matcher of each named argument, see `metrics.tool_calls`.
        other_arguments: whether further arguments are allowed.
    """

    name: Annotated[str, Kept.ID]
    arguments: Mapping[str, Any] = {}
    other_arguments: OtherArguments = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as JSON data."""
        data = {"name": self.name, "arguments": dict(self.arguments)}
        if self.other_arguments:
            data["other_arguments"] = self.other_arguments
        return data


def call_text(name: str, arguments: Mapping[str, Any], arguments_text: str = "") -> str:
    """Return a call as people write it.

    Args:
        arguments_text: arguments that are not a JSON object.

    >>> call_text("search", {"query": "fee", "page": 2})
    'search(query="fee", page=2)'
    """
    values = [f"{key}={json_text(value)}" for key, value in arguments.items()]
    return f"{name}({', '.join(values) or arguments_text})"


def json_text(value: object) -> str:
    """Return an argument as JSON."""
    # Direct ways for the two commonest types: the encoder makes an iterator for each number.
    if value.__class__ is str:
        return encode_basestring(value)
    return repr(value) if value.__class__ is int else _JSON.encode(value)


def read_tool_calls(values: object) -> tuple[ToolCall, ...]:
    """Read calls in the form of any service, see `read_tool_call`.

    Args:
        values: a list of calls, or a single one; None for none.

    Raises:
        ValueError: if one is no call; the message says which and why.
    """
    if values is None:
        return ()
    if isinstance(values, str | Mapping | ToolCall):
        values = [values]
    if not isinstance(values, Iterable):
        raise ValueError(f"expected a list of tool calls, found {_type_name(values)}")
    if isinstance(values, list) and (typed := _typed_calls(values)) is not None:
        return typed
    calls = []
    for index, value in enumerate(values):
        try:
            calls.append(read_tool_call(value))
        except ValueError as exc:
            raise ValueError(f"tool call {index}: {exc}") from None
    return tuple(calls)


def _typed_calls(values: list[Any]) -> tuple[ToolCall, ...] | None:
    """Return calls in our form whose fields have their types; None for others. It is 40 times as fast."""
    if not all(value.__class__ is dict and value.keys() <= _KEYS for value in values):
        return None
    try:
        calls = msgspec.convert(values, tuple[ToolCall, ...])
    except msgspec.ValidationError:  # the slower reader names the fault
        return None
    return calls if all(call.name and not is_deep(call.arguments) for call in calls) else None


def read_tool_call(value: object) -> ToolCall:
    """Read a call.

    The forms are ours (the fields of `ToolCall`), OpenAI's chat completions and responses, Ollama's,
    Anthropic's `tool_use` blocks, Bedrock's `toolUse`, Gemini's `functionCall`, those of DeepEval and Ragas,
    and the bare name of a tool.

    Raises:
        ValueError: if the value is no mapping, or has no name of a tool.

    >>> read_tool_call({"id": "c1", "function": {"name": "search", "arguments": '{"q": "fee"}'}}).arguments
    {'q': 'fee'}
    """
    if isinstance(value, ToolCall):
        return value
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping):
        raise ValueError(f"expected an object or the name of a tool, found {_type_name(value)}")
    known = value if value.keys() <= _KEYS else _translated(value)
    name = known.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(
            'the name of the tool is missing; write {"name": "search", "arguments": {"query": "fee"}}'
        )
    result = known.get("result")
    arguments, text = _arguments(known.get("arguments"))
    return ToolCall(
        name=name,
        arguments=arguments,
        arguments_text=text or _text(known.get("arguments_text")),
        id=_text(known.get("id")),
        result=None if result is None else _text(result),
        error=_text(known.get("error")),
        agent=_text(known.get("agent")),
        started_s=_seconds(known.get("started_s")),
        duration_s=_seconds(known.get("duration_s")),
    )


def unread_keys(value: object) -> tuple[str, ...]:
    """Return the keys of a call in any form that `read_tool_call` does not read.

    >>> unread_keys({"id": "c1", "function": {"name": "search", "arguments": "{}", "strict": True}})
    ('strict',)
    """
    if not isinstance(value, Mapping):
        return ()
    wrapped = (value[key] for key in _WRAPPERS if isinstance(value.get(key), Mapping))
    return tuple(key for key in (*value, *next(wrapped, ())) if key not in _READ)


def _translated(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call of another form under our names."""
    merged = dict(value)
    for key in _WRAPPERS:  # some services put name and arguments into an object of their own
        wrapped = value.get(key)
        if isinstance(wrapped, Mapping):
            merged |= wrapped
            break
    merged["result"] = next((merged[key] for key in _RESULTS if merged.get(key) is not None), None)
    merged["arguments"] = next((merged[key] for key in _ARGUMENTS if key in merged), None)
    merged["id"] = next((merged[key] for key in _IDS if merged.get(key)), "")
    return merged


_KEYS = frozenset(ToolCall.__struct_fields__)
_WRAPPERS = ("function", "toolUse", "functionCall", "function_call")
_ARGUMENTS = ("arguments", "input", "args", "kwargs", "parameters", "input_parameters", "inputParameters")
_RESULTS = ("result", "output")
_IDS = ("id", "call_id", "toolUseId", "tool_call_id")
_READ = _KEYS.union(_WRAPPERS, _ARGUMENTS, _RESULTS, _IDS, ("type", "index"))
"""Keys of calls in all forms; type and index say nothing about a call."""


def _arguments(value: object) -> tuple[Mapping[str, Any], str]:
    """Return the arguments, or their text where they are not a JSON object."""
    if value is None or value == "":
        return NO_ARGUMENTS, ""
    parsed = value
    if isinstance(value, str):
        try:
            parsed = json.loads(valid_json(value))
        except (ValueError, RecursionError):
            return NO_ARGUMENTS, value
    if not isinstance(parsed, Mapping) or is_deep(parsed):
        return NO_ARGUMENTS, _text(value)
    # Python code may give other keys; JSON has texts only.
    return {str(name): item for name, item in parsed.items()}, ""


_CONTAINERS = (dict, list, tuple)
_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Types of nearly all values; to see that one is none of the containers takes several times as long."""


def is_deep(value: object, depth: int = MAX_DEPTH) -> bool:
    """Return whether JSON data are nested deeper than a limit; the search is not recursive."""
    if isinstance(value, dict):
        for part in value.values():
            if part.__class__ not in _LEAVES and isinstance(part, _CONTAINERS):
                break
        else:
            return False  # as nearly all arguments
    level = [value] if isinstance(value, _CONTAINERS) else []
    # Level by level, since a recursive search would reach Python's limit on what it is to find.
    for _ in range(depth):
        if not level:
            return False
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if part.__class__ not in _LEAVES and isinstance(part, _CONTAINERS)
        ]
    return bool(level)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return _JSON.encode(value)
    except (ValueError, RecursionError):
        return f"{_type_name(value)} that JSON cannot hold"


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _type_name(value: object) -> str:
    return "null" if value is None else type(value).__name__
