"""Spans of the AI SDK of Vercel.

Source: https://ai-sdk.dev/docs/ai-sdk-core/telemetry
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import items_of, mapping_of
from pytest_evalstudio.traces.facts import NO_FACTS, Facts, Kind, TraceMessage
from pytest_evalstudio.traces.messages import call_of, is_broken, parsed, read_message, text_of, usage_of
from pytest_evalstudio.traces.spans import Span

OPERATION = "ai.operationId"
_KINDS: Mapping[str, Kind] = {
    "ai.generateText": "chain",
    "ai.streamText": "chain",
    "ai.generateObject": "chain",
    "ai.streamObject": "chain",
    "ai.generateText.doGenerate": "model",
    "ai.streamText.doStream": "model",
    "ai.generateObject.doGenerate": "model",
    "ai.streamObject.doStream": "model",
    "ai.toolCall": "tool",
}
_USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens"),
    "cached_tokens": ("ai.usage.cachedInputTokens",),
    "reasoning_tokens": ("ai.usage.reasoningTokens",),
}
_JSON = ("ai.prompt", "ai.prompt.messages", "ai.response.toolCalls")
_CALL, _RESULT = "tool-call", "tool-result"
_SESSION = ("ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.session.id", "session.id")


def is_vercel(span: Span) -> bool:
    """Return whether a span follows these conventions."""
    return OPERATION in span.attributes


def read(span: Span) -> Facts:
    """Return the facts of a span."""
    values = span.attributes
    kind = _KINDS.get(text_of(values[OPERATION]), "")
    if not kind:
        return NO_FACTS
    session = next((text_of(values[name]) for name in _SESSION if values.get(name)), "")
    if kind == "tool":
        name = text_of(values.get("ai.toolCall.name"))
        arguments, result = values.get("ai.toolCall.args"), _value(values.get("ai.toolCall.result"))
        return Facts(
            kind=kind,
            name=name,
            call=call_of(name, arguments, values.get("ai.toolCall.id"), result),
            says_arguments=arguments is not None,
            session=session,
        )
    model = text_of(values.get("gen_ai.request.model") or values.get("ai.model.id"))
    return Facts(
        kind=kind,
        name=model if kind == "model" else text_of(values.get("ai.telemetry.functionId")),
        inputs=tuple(_inputs(values)),
        outputs=tuple(_outputs(values)),
        served_model=text_of(values.get("ai.response.model")),
        request_id=text_of(values.get("ai.response.id")),
        finish_reason=finish_reason(text_of(values.get("ai.response.finishReason")).replace("-", "_")),
        usage=usage_of(values, _USAGE),
        session=session,
        unread=tuple(f"value of {name!r}" for name in _JSON if is_broken(values.get(name))),
    )


def _value(value: Json) -> Json:
    """Return a result, which is JSON."""
    data = parsed(value)
    return data if isinstance(data, str) else value


def _inputs(values: Mapping[str, Json]) -> Iterator[TraceMessage]:
    prompt = mapping_of(parsed(values.get("ai.prompt")))
    messages: list[Json] = [{"role": "system", "content": prompt["system"]}] if prompt.get("system") else []
    if isinstance(prompt.get("prompt"), str):
        messages.append({"role": "user", "content": prompt["prompt"]})
    messages += items_of(prompt.get("messages") or prompt.get("prompt")) if not messages[1:] else []
    if not prompt:
        messages = items_of(parsed(values.get("ai.prompt.messages")))
    for message in map(mapping_of, messages):
        content = message.get("content")
        if isinstance(content, list):
            parts: list[Json] = [_part(mapping_of(part)) for part in content]
            message = {"role": message.get("role"), "parts": parts}
        read = read_message(message, "user")
        if read is not None:
            yield read


def _outputs(values: Mapping[str, Json]) -> Iterator[TraceMessage]:
    text = values.get("ai.response.text") or values.get("ai.response.object")
    calls = items_of(parsed(values.get("ai.response.toolCalls")))
    parts: list[Json] = [{"type": "text", "content": text}] if text else []
    parts += [_part({**mapping_of(call), "type": _CALL}) for call in calls]
    read = read_message({"role": "assistant", "parts": parts}) if parts else None
    if read is not None:
        yield read


def _part(part: Mapping[str, Json]) -> Json:
    """Return a part of a message in the form of the GenAI conventions."""
    kind = part.get("type")
    if kind == _CALL:
        arguments = part.get("input", part.get("args"))
        return {
            "type": "tool_call",
            "id": part.get("toolCallId"),
            "name": part.get("toolName"),
            "arguments": arguments,
        }
    if kind == _RESULT:
        output = part.get("output", part.get("result"))
        result = mapping_of(output).get("value", output)
        return {"type": "tool_call_response", "id": part.get("toolCallId"), "response": result}
    return dict(part)
