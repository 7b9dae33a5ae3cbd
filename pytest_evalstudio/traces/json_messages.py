"""Messages in the JSON of the GenAI conventions, decoded straight into typed parts; others by their values.

Nearly all requests and replies consist of these parts only. Dictionaries of them, which `messages.py` reads
in all forms, take twice as long.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-input-messages.json
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.tool_calls import MAX_DEPTH, ToolCall, is_deep
from pytest_evalstudio.traces.facts import ToolResult, TraceMessage
from pytest_evalstudio.traces.messages import (
    ROLES,
    call_of,
    is_unread,
    messages_in,
    parsed,
    text_of,
)


class _Part(Struct, tag_field="type", forbid_unknown_fields=True, gc=False):
    """Part that has no other keys, which may say more, or be nested too deeply."""


class _Text(_Part, tag="text"):
    content: str


class _Reasoning(_Part, tag="reasoning"):
    content: str


class _Call(_Part, tag="tool_call"):
    name: Annotated[str, Meta(min_length=1)]
    arguments: Any
    id: str | None = None


class _Result(_Part, tag="tool_call_response"):
    response: str | dict[str, Any] | list[Any]
    id: str | None = None


class _Message(Struct, forbid_unknown_fields=True, gc=False):
    """Message that has no other keys, under which other forms have their content."""

    role: str
    parts: list[_Text | _Reasoning | _Call | _Result]
    name: str | None = None
    finish_reason: str | None = None


_DEPTH = 4
"""Depth of a value in a list of messages, a message, a list of parts, and a part."""
_MESSAGES = msgspec.json.Decoder(list[_Message])


def read_json_messages(value: Json, role: str) -> list[TraceMessage] | None:
    """Return the messages of an attribute that is JSON, see `read_messages`; None where it is broken."""
    messages = _typed(value) if isinstance(value, str) else None
    if messages is not None:
        return [_message(message, role) for message in messages if ROLES.get(message.role, role)]
    data = parsed(value)
    return None if is_unread(value, data) else messages_in(data, role)


def _typed(text: str) -> list[_Message] | None:
    """Return the messages of a text; None where one has other parts, or is nested too deeply."""
    try:
        messages = _MESSAGES.decode(text)
    except (ValueError, RecursionError):
        return None
    for message in messages:
        for part in message.parts:
            if isinstance(part, _Call):
                content = part.arguments
            elif isinstance(part, _Result):
                content = part.response
            else:
                continue
            # The general reader takes a text that is nested too deeply as broken.
            if not isinstance(content, str) and is_deep(content, MAX_DEPTH - _DEPTH):
                return None
    return messages


def _message(message: _Message, role: str) -> TraceMessage:
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    for part in message.parts:
        if isinstance(part, _Text):
            texts.append(part.content)
        elif isinstance(part, _Call) and (call := call_of(part.name, part.arguments, part.id)):
            calls.append(call)
        elif isinstance(part, _Result):
            results.append(ToolResult(text_of(part.id), text_of(part.response)))
    return TraceMessage(ROLES.get(message.role, role), "\n".join(texts), tuple(calls), tuple(results))
