"""Messages in the attributes of spans: parts of the GenAI conventions, OpenAI, Anthropic, Amazon Bedrock."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.numbers import MAX_TOKENS
from pytest_evalstudio.core.tool_calls import MAX_DEPTH, ToolCall, is_deep, read_tool_call
from pytest_evalstudio.formats.imported.records import mapping_of
from pytest_evalstudio.formats.messages import message_parts
from pytest_evalstudio.text.unicode import valid_json
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
_SERVER_CALL, _SERVER_RESULT = "server_tool_call", "server_tool_call_response"
"""Parts whose content is under a key of the name of their type."""
_TEXT_PARTS = ("text", "refusal")
_THOUGHTS = ("reasoning", "thinking", "redacted_thinking", "reasoningContent", "thought")
"""Parts that are no part of an answer."""
_MAX_TOOL_NAME_CHARS = 500


def parsed(value: Json) -> Json:
    """Return the value of a JSON text; another text, and a value that is nested too deeply, as they are."""
    # Other JSON texts are numbers and words, which are meant as texts here.
    if not isinstance(value, str) or value[:1] not in ("[", "{", '"'):
        return value
    try:
        data: Json = msgspec.json.decode(value)
    except RecursionError:  # as the text that it was: no reader behind could walk it
        return value
    except ValueError:
        # With lone surrogates replaced, as msgspec refuses them and exporters write them.
        try:
            data = msgspec.json.decode(valid_json(value))
        except (ValueError, RecursionError):
            return value
    return value if len(value) > MAX_DEPTH and is_deep(data) else data


def is_broken(value: Json) -> bool:
    """Return whether a value is a text that should be JSON and is not, e.g. since it is cut off."""
    return isinstance(value, str) and is_unread(value, parsed(value))


def is_unread(value: Json, data: Json) -> bool:
    """Return whether a value that was parsed as some data is broken, see `is_broken`."""
    return isinstance(data, str) and isinstance(value, str) and value[:1] in ("[", "{")


def text_of(value: Json) -> str:
    """Return a text; other values as JSON, nothing as ""."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_messages(value: Json, role: str) -> list[TraceMessage]:
    """Return the messages of an attribute; what is no message is left out.

    Args:
        value: a list of messages or its JSON; a single message, or a plain text.
        role: of messages that have none.
    """
    return messages_in(parsed(value), role)


def messages_in(value: Json, role: str) -> list[TraceMessage]:
    """Return the messages of a value that is parsed, see `read_messages`."""
    if isinstance(value, str):
        value = {"role": role, "content": value} if value else None
    items = value if isinstance(value, list) else [value]
    messages = [read_message(item, role) for item in items if isinstance(item, dict)]
    return [message for message in messages if message is not None]


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
    # The whole message first, which nearly always works; part by part only after a failure.
    try:
        return _of_content({**value, "role": known}, ())
    except (ValueError, TypeError, AttributeError):
        return _of_content(*_readable({**value, "role": known}))


def _of_content(value: Mapping[str, Any], unread: Sequence[str]) -> TraceMessage:
    texts, calls, results = message_parts(value)
    content = value.get("content")
    unread_parts = _unread_parts(content) if isinstance(content, list) else ()
    return TraceMessage(
        value["role"],
        "\n".join(texts),
        tuple(_plain_call(call) for call in calls),
        tuple(
            ToolResult(id, text_of(result.get("result")), text_of(result.get("error")))
            for id, result in results.items()
        ),
        (*unread, *unread_parts),
    )


def _readable(value: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a message without the calls and parts that cannot be read, and their names."""
    content, calls = value.get("content"), value.get("tool_calls")
    message = {"role": value["role"], "content": None if isinstance(content, list) else content}
    message |= {name: value[name] for name in ("tool_call_id", "name", "refusal") if name in value}
    kept: dict[str, list[Json]] = {"content": [], "tool_calls": []}
    unread: list[str] = []
    for name, items in (("content", content), ("tool_calls", calls)):
        for item in items if isinstance(items, list) else [items] if items and name == "tool_calls" else ():
            try:
                message_parts({"role": "assistant", name: [item]})
                kept[name].append(item)
            except (ValueError, TypeError, AttributeError):
                unread.append(_part_name(item) if name == "content" else name)
    if isinstance(content, list):
        message["content"] = kept["content"]
    return {**message, "tool_calls": kept["tool_calls"]}, unread


def _unread_parts(parts: Iterable[Json]) -> Iterator[str]:
    """Yield the names of parts of a message in the forms of chat services that `message_parts` skips."""
    for part in parts:
        names = {_part_name(part), *mapping_of(part)}
        is_text = isinstance(part, str) or any(
            isinstance(mapping_of(part).get(name), str) for name in ("text", "refusal")
        )
        if not is_text and not names & _READ_PARTS and not names & set(_THOUGHTS):
            yield _part_name(part)


_READ_PARTS = {"json", "tool_use", "toolUse", "tool_result", "toolResult", "cachePoint"}


def _part_name(part: Json) -> str:
    values = mapping_of(part)
    kind = values.get("type") or next(iter(values), "")
    return kind[:_MAX_PART_NAME_CHARS] if isinstance(kind, str) and kind else "without a type"


_MAX_PART_NAME_CHARS = 50


def unwrapped(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a message that LangChain wrote as JSON, without its wrapper; others as they are."""
    if "kwargs" not in value and "data" not in value:
        return value
    # "kwargs" of `dumpd`, "data" of `messages_to_dict`.
    return mapping_of(value.get("kwargs")) or mapping_of(value.get("data")) or value


def _plain_call(value: Mapping[str, Any]) -> ToolCall:
    """Return a call whose arguments are JSON: NaN is not, but a lenient parser reads it."""
    call = read_tool_call(value)
    try:
        # msgspec writes NaN and infinities as null.
        return replace(call, arguments=msgspec.json.decode(msgspec.json.encode(call.arguments)))
    except (ValueError, OverflowError):
        return replace(call, arguments={}, arguments_text=json.dumps(call.arguments, default=str))


def _of_parts(role: str, parts: Iterable[Json]) -> TraceMessage:
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    unread: list[str] = []
    for part in map(mapping_of, parts):
        kind = part.get("type")
        if kind in _TEXT_PARTS and isinstance(content := part.get("content", part.get(kind)), str):
            texts.append(content)
        elif kind in ("tool_call", _SERVER_CALL):
            call = call_of(part.get("name"), _arguments(part), part.get("id"))
            calls += [call] if call is not None else []
            unread += [_part_name(part)] if call is None else []
        elif kind in ("tool_call_response", _SERVER_RESULT):
            text = next((part[name] for name in _RESULTS if part.get(name) is not None), None)
            text = _without_type(part.get(_SERVER_RESULT)) if kind == _SERVER_RESULT else text
            results.append(ToolResult(text_of(part.get("id")), text_of(text)))
        elif kind not in _THOUGHTS:
            unread.append(_part_name(part) if kind else "without a type")
    return TraceMessage(role, "\n".join(texts), tuple(calls), tuple(results), tuple(unread))


def _arguments(part: Mapping[str, Json]) -> Json:
    return part["arguments"] if "arguments" in part else _without_type(part.get(_SERVER_CALL))


def _without_type(value: Json) -> Json:
    return {key: item for key, item in value.items() if key != "type"} if isinstance(value, dict) else value


def call_of(
    name: Json, arguments: Json, id: Json = None, result: Json = None, *, failed: bool = False
) -> ToolCall | None:
    """Return a call; None where it has no name.

    Args:
        result: None where the trace does not say it.
        failed: whether the result is the text of an error.
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
        result=None if result is None or failed else text_of(result),
        error=(text_of(result) or "error") if failed else "",
    )


def documents_of(value: Json) -> Iterator[Document]:
    """Yield the documents of a list of texts or objects."""
    value = parsed(value)
    for item in value if isinstance(value, list) else []:
        if isinstance(item, str):
            yield Document(item)
        elif isinstance(item, dict):
            metadata = mapping_of(parsed(item.get("metadata")))
            # The document's own keys come before those of its metadata.
            source = _first(item if not metadata else {**metadata, **item}, _SOURCES, (str, int))
            yield Document(_first(item, _TEXTS, (str,)), source, amount(item.get("score")))


def _first(values: Mapping[str, Json], names: Iterable[str], types: tuple[type, ...]) -> str:
    """Return the first value of some types as a text, "" without one."""
    for name in names:
        if isinstance(value := values.get(name), types):
            return str(value)
    return ""


_TEXTS = ("content", "page_content", "text")
_SOURCES = ("uri", "url", "source", "doc_uri", "id")


def amount(value: Json) -> float | None:
    """Return a finite number, or None."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    # An integer beyond the range of floats, which `isfinite` cannot convert.
    except OverflowError:
        return None


def tokens(value: Json) -> int | None:
    """Return a number of tokens, or None."""
    if value.__class__ is int and 0 <= value <= MAX_TOKENS:  # as nearly all
        return value
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
        # Attributes come from strangers: a long key must not build a deep object, or a huge number.
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
