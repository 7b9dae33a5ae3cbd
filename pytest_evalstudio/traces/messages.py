"""Messages in the attributes of spans: parts of the GenAI conventions, OpenAI, Anthropic, Amazon Bedrock."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from pytest_evalstudio.core.numbers import MAX_TOKENS
from pytest_evalstudio.core.tool_calls import MAX_DEPTH, ToolCall, is_deep, read_tool_call
from pytest_evalstudio.formats.messages import message_parts
from pytest_evalstudio.importers.common import Json, mapping_of
from pytest_evalstudio.traces.facts import Document, ToolResult, TraceMessage

ROLES: Mapping[str, str] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_RESULTS = ("response", "result", "content")
_MAX_TOOL_NAME_CHARS = 500


def parsed(value: Json) -> Json:
    """Return the value of a JSON text; another text, and a value that is nested too deeply, as they are."""
    if not isinstance(value, str) or value[:1] not in ("[", "{", '"'):
        return value
    try:
        data: Json = msgspec.json.decode(value)
    except (ValueError, RecursionError):
        return value
    # A text without many brackets cannot be nested deeply, which is much faster to see.
    is_flat = value.count("{") + value.count("[") <= MAX_DEPTH
    return data if is_flat or not is_deep(data) else value


def text_of(value: Json) -> str:
    """Return a text; other values as JSON, nothing as ""."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def read_messages(value: Json, role: str) -> Iterator[TraceMessage]:
    """Yield the messages of an attribute; what is no message is left out.

    Args:
        value: a list of messages or its JSON; a single message, or a plain text.
        role: of messages that have none.
    """
    value = parsed(value)
    if isinstance(value, str):
        value = {"role": role, "content": value} if value else None
    items = value if isinstance(value, list) else [value]
    for item in items:
        if isinstance(item, dict):
            message = read_message(item, role)
            if message is not None:
                yield message


def read_message(value: Mapping[str, Json], role: str = "") -> TraceMessage | None:
    """Read a message; None where it is none."""
    value = unwrapped(value)
    name = value.get("role", value.get("type"))
    known = ROLES.get(name, role) if isinstance(name, str) else role
    if not known:
        return None
    parts = value.get("parts")
    if isinstance(parts, list):
        return _of_parts(known, parts)
    try:
        texts, calls, results = message_parts({**value, "role": known})
        return TraceMessage(
            known,
            "\n".join(texts),
            tuple(_plain_call(call) for call in calls),
            tuple(
                ToolResult(id, text_of(result.get("result")), text_of(result.get("error")))
                for id, result in results.items()
            ),
        )
    except (ValueError, TypeError, AttributeError):
        return None


def unwrapped(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a message that LangChain wrote as JSON, without its wrapper; others as they are."""
    return mapping_of(value.get("kwargs")) or mapping_of(value.get("data")) or value


def _plain_call(value: Mapping[str, Any]) -> ToolCall:
    """Return a call whose arguments are JSON: NaN is not, but a lenient parser reads it."""
    call = read_tool_call(value)
    try:
        return replace(call, arguments=msgspec.json.decode(msgspec.json.encode(call.arguments)))
    except (ValueError, OverflowError):
        return replace(call, arguments={}, arguments_text=json.dumps(call.arguments, default=str))


def _of_parts(role: str, parts: Iterable[Json]) -> TraceMessage:
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    for part in map(mapping_of, parts):
        kind = part.get("type")
        if kind == "tool_call":
            call = call_of(part.get("name"), part.get("arguments"), part.get("id"))
            calls += [call] if call is not None else []
        elif kind == "tool_call_response":
            text = next((part[name] for name in _RESULTS if part.get(name) is not None), None)
            results.append(ToolResult(text_of(part.get("id")), text_of(text)))
        elif kind == "text" and isinstance(content := part.get("content", part.get("text")), str):
            texts.append(content)
    return TraceMessage(role, "\n".join(texts), tuple(calls), tuple(results))


def call_of(name: Json, arguments: Json, id: Json = None, result: Json = None) -> ToolCall | None:
    """Return a call; None where it has no name.

    Args:
        result: None where the trace does not say it.
    """
    if not isinstance(name, str) or not name:
        return None
    value = parsed(arguments)
    is_plain = isinstance(value, dict) and not is_deep(value)
    return ToolCall(
        name=name[:_MAX_TOOL_NAME_CHARS],
        arguments=mapping_of(value) if is_plain else {},
        arguments_text="" if is_plain else text_of(value),
        id=text_of(id),
        result=None if result is None else text_of(result),
    )


def documents_of(value: Json) -> Iterator[Document]:
    """Yield the documents of a list of texts or objects."""
    value = parsed(value)
    for item in value if isinstance(value, list) else []:
        if isinstance(item, str):
            yield Document(item)
        elif isinstance(item, dict):
            text = next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), "")
            details = {**mapping_of(parsed(item.get("metadata"))), **item}
            source = next((details[key] for key in _SOURCES if isinstance(details.get(key), str | int)), "")
            yield Document(str(text), str(source), amount(item.get("score")))


_TEXTS = ("content", "page_content", "text")
_SOURCES = ("uri", "url", "source", "doc_uri", "id")


def amount(value: Json) -> float | None:
    """Return a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def tokens(value: Json) -> int | None:
    """Return a number of tokens, or None."""
    number = amount(value)
    return int(number) if number is not None and 0 <= number <= MAX_TOKENS else None


def usage_of(attributes: Mapping[str, Json], names: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return tokens by kind.

    Args:
        names: of the attributes of each kind; the first one that there is counts.
    """
    usage = {}
    for kind, keys in names.items():
        for key in keys:
            number = tokens(attributes[key]) if key in attributes else None
            if number is not None:
                usage[kind] = number
                break
    return usage


def unflattened(attributes: Mapping[str, Json], prefix: str) -> list[dict[str, Json]]:
    """Return the objects of flattened attributes, in order.

    >>> unflattened({"m.1.role": "user", "m.0.calls.0.name": "search", "n": 1}, "m.")
    [{'calls': {'0': {'name': 'search'}}}, {'role': 'user'}]
    """
    items: dict[int, dict[str, Json]] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        index, *path = key[len(prefix) :].split(".")
        if not path or len(path) > _MAX_PATH or len(index) > _MAX_INDEX or not index.isdecimal():
            continue
        node = items.setdefault(int(index), {})
        for step in path[:-1]:
            child = node.get(step)
            if not isinstance(child, dict):
                child = node[step] = {}
            node = child
        node[path[-1]] = value
    return [items[index] for index in sorted(items)]


_MAX_PATH = 12
_MAX_INDEX = 6


def listed(value: Json) -> list[Json]:
    """Return the items of an unflattened list, in order."""
    if not isinstance(value, dict):
        return []
    indices = sorted(int(key) for key in value if key.isdecimal() and len(key) <= _MAX_INDEX)
    return [value[key] for key in map(str, indices) if key in value]
