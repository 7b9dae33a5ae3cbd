"""Attributes of Google's Agent Development Kit: requests and replies of Gemini, and calls of tools.

Newer versions write them only with ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1; else they follow the GenAI
conventions.

Source: https://google.github.io/adk-docs/observability/
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import items_of, mapping_of
from pytest_evalstudio.traces.facts import TraceMessage
from pytest_evalstudio.traces.messages import is_broken, parsed, read_message, text_of
from pytest_evalstudio.traces.spans import Attributes

PREFIX = "gcp.vertex.agent."
_REQUEST, _RESPONSE = f"{PREFIX}llm_request", f"{PREFIX}llm_response"
ARGUMENTS, RESULT = f"{PREFIX}tool_call_args", f"{PREFIX}tool_response"
UNKNOWN = "<not specified>"
"""Id and result of a call that ended with an error."""
SESSION = f"{PREFIX}session_id"
"""Attribute with the id of the conversation."""


def messages_of(values: Attributes) -> tuple[list[TraceMessage], list[TraceMessage]]:
    """Return the messages of a request and of its reply."""
    if _REQUEST not in values and _RESPONSE not in values:
        return [], []
    request = mapping_of(parsed(values.get(_REQUEST)))
    response = mapping_of(parsed(values.get(_RESPONSE)))
    inputs = list(_system(mapping_of(request.get("config")).get("system_instruction")))
    for content in items_of(request.get("contents")):
        inputs += _message(content, "user")
    return inputs, list(_message(response.get("content"), "assistant"))


def unread_of(values: Attributes) -> tuple[str, ...]:
    """Return the names of the attributes that cannot be read."""
    if _REQUEST not in values and _RESPONSE not in values:
        return ()
    return tuple(f"value of {name!r}" for name in (_REQUEST, _RESPONSE) if is_broken(values.get(name)))


def served_model_of(values: Attributes) -> str:
    """Return the model that answered, "" where the reply does not say it."""
    return text_of(mapping_of(parsed(values.get(_RESPONSE))).get("model_version"))


def _system(value: Json) -> Iterator[TraceMessage]:
    if isinstance(value, str):
        yield TraceMessage("system", value)
    else:
        yield from _message(value, "system")


def _message(content: Json, role: str) -> Iterator[TraceMessage]:
    """Yield a content of Gemini as a message."""
    values = mapping_of(content)
    parts: list[Json] = [_part(mapping_of(part)) for part in items_of(values.get("parts"))]
    if parts:
        message = read_message({"role": values.get("role") or role, "parts": parts}, role)
        if message is not None:
            yield message


def _part(part: dict[str, Json]) -> Json:
    """Return a part of Gemini in the form of the GenAI conventions."""
    call, response = mapping_of(part.get("function_call")), mapping_of(part.get("function_response"))
    if call:
        return {
            "type": "tool_call",
            "id": call.get("id"),
            "name": call.get("name"),
            "arguments": call.get("args"),
        }
    if response:
        return {"type": "tool_call_response", "id": response.get("id"), "response": response.get("response")}
    if isinstance(part.get("text"), str):
        return {"type": "reasoning" if part.get("thought") else "text", "content": part["text"]}
    return {"type": next(iter(part), "")}
