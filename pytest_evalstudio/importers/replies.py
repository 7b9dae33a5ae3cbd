"""Replies that other tools store as messages: the text of the last one, and the calls of tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.tool_calls import read_tool_call, unread_keys
from pytest_evalstudio.formats.imported.records import Omissions, items_of, mapping_of, text_of

_ASSISTANT = ("assistant", "ai")
_OF_MESSAGES = (
    *("role", "type", "content", "tool_calls", "tool_call_id", "error", "status"),
    *("id", "name", "function", "source", "model"),
)
"""Keys of messages that are read, or that name the message, its tool or its model."""


def reply_of(outputs: Json, omissions: Omissions) -> Json:
    """Return the content of a chat completion or of the assistant's last message, else the outputs."""
    choices = items_of(mapping_of(outputs).get("choices"))
    for choice in choices[1:]:
        if choice:
            omissions.add("further choice of a reply", "the first one is the answer")
    # The first one only: the loop ends with its `return`.
    for choice in choices:
        return mapping_of(mapping_of(choice).get("message")).get("content")
    messages = [*map(mapping_of, items_of(mapping_of(outputs).get("messages")))]
    if messages:
        omissions.keys(mapping_of(outputs), ("messages",), "output", "the last message is the answer")
    assistant_messages = (each for each in reversed(messages) if _role(each, "assistant") in _ASSISTANT)
    # The last message of the assistant may be a call of a tool without a text.
    reply = next(
        (each for each in assistant_messages if each.get("content")), messages[-1] if messages else None
    )
    if reply is None:
        return outputs
    note_unread([*messages], [text_of(reply.get("content"), Omissions())], omissions)
    return reply.get("content")


def messages_of(outputs: Json) -> list[Json]:
    """Return the messages of a reply, [] where it is of another form."""
    return items_of(mapping_of(outputs).get("messages"))


def calls_in(messages: Sequence[Json], omissions: Omissions) -> Iterator[dict[str, Any]]:
    """Yield the calls in messages in our form, with results of the messages of tools."""
    results = {
        str(message.get("tool_call_id")): message
        for message in map(mapping_of, messages)
        if _role(message, "") == "tool" and message.get("tool_call_id")
    }
    for message in map(mapping_of, messages):
        for value in items_of(message.get("tool_calls")):
            call = mapping_of(value)
            if isinstance(call.get("function"), str):  # Inspect has the name under this key
                call = {"name": call["function"], **{key: call.get(key) for key in ("arguments", "id")}}
            for key in unread_keys(value):
                omissions.add(f"{key!r} of a call", "a call has a name, arguments, a result or an error")
            try:
                read = read_tool_call(call)
            except ValueError as exc:
                omissions.add("call of a tool", str(exc))
                continue
            yield {**read.to_dict(), **_result(results.get(read.id), omissions)}


def note_unread(messages: Sequence[Json], texts: Collection[str], omissions: Omissions) -> None:
    """Count what is not read of messages: their further keys, and texts that are no results of calls.

    Args:
        texts: of messages that were read.
    """
    ids = {
        str(mapping_of(call).get("id"))
        for message in map(mapping_of, messages)
        for call in items_of(message.get("tool_calls"))
    }
    for message in map(mapping_of, messages):
        omissions.keys(message, _OF_MESSAGES, "key of a message", "a message has a role, a text and calls")
        is_result = _role(message, "") == "tool" and str(message.get("tool_call_id")) in ids
        text = text_of(message.get("content"), omissions)
        if text.strip() and not is_result and text not in texts:
            role = _role(message, "no role")
            omissions.add(f"text of a further message of {role}", "a row has one question and one answer")


def _result(message: Mapping[str, Json] | None, omissions: Omissions) -> dict[str, str]:
    if message is None:
        return {}
    text, error = text_of(message.get("content"), omissions), message.get("error")
    if error or message.get("status") == "error":
        return {"error": text_of(mapping_of(error).get("message") or error, omissions) or text or "error"}
    return {"result": text} if text else {}


def _role(message: Mapping[str, Json], default: str) -> Json:
    return message.get("role", message.get("type", default))
