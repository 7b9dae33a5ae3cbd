"""Spans of the OpenTelemetry conventions for generative AI, and of OpenLLMetry, which flattens messages.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.importers.common import Json, mapping_of
from pytest_evalstudio.traces.facts import NO_FACTS, Document, Facts, Kind, TraceMessage
from pytest_evalstudio.traces.messages import (
    amount,
    call_of,
    documents_of,
    listed,
    parsed,
    read_message,
    read_messages,
    text_of,
    unflattened,
    usage_of,
)
from pytest_evalstudio.traces.spans import Event, Span

_KINDS: Mapping[str, Kind] = {
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "chain",
    "retrieval": "retrieval",
    "workflow": "chain",
    "task": "",
    "agent": "agent",
    "tool": "tool",
}
"""Kinds by `gen_ai.operation.name`, and by `traceloop.span.kind`."""
_USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "cached_tokens": ("gen_ai.usage.cache_read.input_tokens",),
    "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens",),
}
_INPUTS = ("gen_ai.input.messages", "gen_ai.prompt")
_OUTPUTS = ("gen_ai.output.messages", "gen_ai.completion")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "traceloop.entity.input")
_SYSTEM = "gen_ai.system_instructions"
_CHOICE = "gen_ai.choice"
_ROLE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_CONTENT_EVENTS = ("gen_ai.content.prompt", "gen_ai.content.completion")
_DETAILS_EVENTS = ("gen_ai.client.inference.operation.details", "gen_ai.client.inference.details")


def is_genai(span: Span) -> bool:
    """Return whether a span follows these conventions."""
    if "gen_ai.operation.name" in span.attributes:  # as nearly all
        return True
    return any(name.startswith(("gen_ai.", "traceloop.")) for name in span.attributes)


def read(span: Span) -> Facts:
    """Return the facts of a span."""
    values = span.attributes
    operation = values.get("gen_ai.operation.name", values.get("traceloop.span.kind"))
    kind: Kind = _KINDS.get(operation, "") if isinstance(operation, str) else ""
    if operation is None and ("gen_ai.request.model" in values or "gen_ai.response.model" in values):
        kind = "model"  # older instrumentations name no operation
    if not kind:
        return NO_FACTS
    if kind == "tool":
        return Facts(
            kind=kind,
            name=_tool_name(values),
            call=_call(values),
            says_arguments=any(name in values for name in _ARGUMENTS),
            session=_session(values),
        )
    inputs, outputs = _messages(span)
    model = text_of(values.get("gen_ai.request.model") or values.get("gen_ai.response.model"))
    names = {
        "agent": values.get("gen_ai.agent.name") or values.get("traceloop.entity.name"),
        "chain": values.get("gen_ai.workflow.name") or values.get("traceloop.entity.name"),
        "retrieval": values.get("gen_ai.data_source.id"),
    }
    return Facts(
        kind=kind,
        name=model if kind == "model" else text_of(names.get(kind)),
        inputs=inputs,
        outputs=outputs,
        question=_text(values, "gen_ai.retrieval.query.text", "traceloop.entity.input"),
        answer=_text(values, "traceloop.entity.output"),
        served_model=text_of(values.get("gen_ai.response.model")),
        request_id=text_of(values.get("gen_ai.response.id")),
        usage=usage_of(values, _USAGE),
        cost_usd=amount(values.get("gen_ai.usage.cost")),
        documents=tuple(_documents(values)),
        session=_session(values),
    )


def _session(values: Mapping[str, Json]) -> str:
    return text_of(values.get("gen_ai.conversation.id") or values.get("session.id"))


def _text(values: Mapping[str, Json], *names: str) -> str:
    return next((text_of(values[name]) for name in names if values.get(name)), "")


def _tool_name(values: Mapping[str, Json]) -> str:
    return text_of(values.get("gen_ai.tool.name") or values.get("traceloop.entity.name"))


def _call(values: Mapping[str, Json]) -> ToolCall | None:
    arguments = next((values[name] for name in _ARGUMENTS if name in values), None)
    result = values.get("gen_ai.tool.call.result", values.get("traceloop.entity.output"))
    return call_of(_tool_name(values), arguments, values.get("gen_ai.tool.call.id"), result)


def _documents(values: Mapping[str, Json]) -> Iterator[Document]:
    return documents_of(values.get("gen_ai.retrieval.documents"))


def _messages(span: Span) -> tuple[tuple[TraceMessage, ...], tuple[TraceMessage, ...]]:
    """Return the messages of a span: of its attributes, else of its events and log records."""
    values = span.attributes
    inputs, outputs = _of_attributes(values)
    if not (inputs and outputs):
        for event in span.events:
            in_event, out_event = _of_event(event)
            inputs += in_event if not _has(values, _INPUTS) else []
            outputs += out_event if not _has(values, _OUTPUTS) else []
    return tuple(inputs), tuple(outputs)


def _has(values: Mapping[str, Json], names: Iterable[str]) -> bool:
    return any(name in values for name in names)


def _of_attributes(values: Mapping[str, Json]) -> tuple[list[TraceMessage], list[TraceMessage]]:
    inputs: list[TraceMessage] = []
    outputs: list[TraceMessage] = []
    if _SYSTEM in values:
        parts = parsed(values[_SYSTEM])
        system: Json = {"role": "system", "parts": parts} if isinstance(parts, list) else parts
        inputs += read_messages(system, "system")
    for names, role, prefix, messages in (
        (_INPUTS, "user", "gen_ai.prompt.", inputs),
        (_OUTPUTS, "assistant", "gen_ai.completion.", outputs),
    ):
        present = [name for name in names if name in values]
        for name in present:
            messages += read_messages(values[name], role)
        if not present:
            messages += _flattened(values, prefix, role)
    return inputs, outputs


def _flattened(values: Mapping[str, Json], prefix: str, role: str) -> Iterator[TraceMessage]:
    for item in unflattened(values, prefix):
        item["tool_calls"] = listed(item.get("tool_calls"))
        content = parsed(item.get("content"))
        if isinstance(content, list):
            item["content"] = content
        message = read_message(item, role)
        if message is not None:
            yield message


def _of_event(event: Event) -> tuple[list[TraceMessage], list[TraceMessage]]:
    """Return the messages of an event: input and output."""
    values = {**event.attributes, **mapping_of(event.body)}
    if event.name in _ROLE_EVENTS:
        role = _ROLE_EVENTS[event.name]
        message = {**values, "role": role, "tool_call_id": values.get("tool_call_id") or values.get("id")}
        return list(read_messages(_plain(message), role)), []
    if event.name == _CHOICE:
        return [], list(read_messages(_plain(parsed(values.get("message"))), "assistant"))
    if event.name in (*_DETAILS_EVENTS, *_CONTENT_EVENTS):
        return _of_attributes(values)
    return [], []


def _plain(message: Json) -> Json:
    """Return a message whose calls are no JSON text, as attributes of span events are."""
    if isinstance(message, dict) and isinstance(message.get("tool_calls"), str):
        return {**message, "tool_calls": parsed(message["tool_calls"])}
    return message
