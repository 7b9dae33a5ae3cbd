"""Spans of OpenInference, whose attributes are flattened; Phoenix and Arize read and export them.

Source: https://arize-ai.github.io/openinference/spec/semantic_conventions.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.imported.records import items_of, mapping_of
from pytest_evalstudio.traces.facts import NO_FACTS, Document, Facts, Kind, TraceMessage
from pytest_evalstudio.traces.messages import (
    amount,
    call_of,
    listed,
    parsed,
    read_message,
    text_of,
    unflattened,
    unwrapped,
    usage_of,
)
from pytest_evalstudio.traces.spans import Span

KIND = "openinference.span.kind"
_KINDS: Mapping[str, Kind] = {
    "LLM": "model",
    "AGENT": "agent",
    "CHAIN": "chain",
    "TOOL": "tool",
    "RETRIEVER": "retrieval",
    "RERANKER": "retrieval",
    "GUARDRAIL": "guardrail",
    "EVALUATOR": "guardrail",
}
_USAGE = {
    "input_tokens": ("llm.token_count.prompt",),
    "output_tokens": ("llm.token_count.completion",),
    "cached_tokens": ("llm.token_count.prompt_details.cache_read",),
    "cache_write_tokens": ("llm.token_count.prompt_details.cache_write",),
    "reasoning_tokens": ("llm.token_count.completion_details.reasoning",),
}
_HANDOVER = "handoff to "
"""Begin of the names of hand-overs of the OpenAI Agents SDK, whose spans have no attributes of a tool."""
_PREPARATION = "._prepare_chat_with_tools"
"""End of the names of spans of LlamaIndex that are of the kind LLM and send no request."""
_TOOL_KEYS = ("tool.name", "input.value", "output.value", "tool.parameters")


def is_openinference(span: Span) -> bool:
    """Return whether a span follows these conventions."""
    return KIND in span.attributes


def read(span: Span) -> Facts:
    """Return the facts of a span."""
    values = span.attributes
    kind = _KINDS.get(text_of(values[KIND]).upper(), "")
    session = text_of(values.get("session.id"))
    if not kind or span.name.endswith(_PREPARATION):
        return NO_FACTS
    if kind == "tool":
        if span.name.startswith(_HANDOVER) and not any(name in values for name in _TOOL_KEYS):
            return Facts(kind="handover", name=span.name, session=session)
        says_arguments = "input.value" in values
        name, call = _tool_name(span), _call(span)
        return Facts(kind=kind, name=name, call=call, says_arguments=says_arguments, session=session)
    model = text_of(values.get("llm.model_name"))
    return Facts(
        kind=kind,
        name=model if kind == "model" else text_of(values.get("agent.name")),
        inputs=tuple(_messages(values, "llm.input_messages.", "user")),
        outputs=tuple(_messages(values, "llm.output_messages.", "assistant")),
        question=text_of(values.get("input.value")),
        answer=text_of(values.get("output.value")),
        usage=usage_of(values, _USAGE),
        cost_usd=amount(values.get("llm.cost.total")),
        documents=tuple(_documents(values)) if kind == "retrieval" else (),
        session=session,
    )


def _tool_name(span: Span) -> str:
    return text_of(span.attributes.get("tool.name")) or span.name


def _call(span: Span) -> ToolCall | None:
    values = span.attributes
    arguments = values.get("input.value")  # tool.parameters is the schema
    id = values.get("tool.id", values.get("tool_call.id"))
    result = values.get("output.value")
    failed = False
    output = mapping_of(parsed(result))
    message = unwrapped(output)
    named = mapping_of(parsed(arguments)).get("kwargs")
    schema = mapping_of(mapping_of(parsed(values.get("tool.parameters"))).get("properties"))
    if isinstance(named, dict) and schema and "kwargs" not in schema:  # LlamaIndex records a call of Python
        arguments = named
    if {"raw_input", "raw_output", "is_error"} <= output.keys():
        failed = output["is_error"] is True
        texts = [text_of(mapping_of(block).get("text")) for block in items_of(output.get("blocks"))]
        result = "\n".join(filter(None, texts)) or output["raw_output"]
    if message.get("tool_call_id") and "content" in message:  # LangChain records the message to the model
        id, result = message["tool_call_id"], message["content"]
        failed = message.get("status") == "error"
    return call_of(_tool_name(span), arguments, id, result, failed=failed)


def _messages(values: Mapping[str, Json], prefix: str, role: str) -> Iterator[TraceMessage]:
    for item in unflattened(values, prefix):
        message = dict(mapping_of(item.get("message")))
        contents = [mapping_of(part).get("message_content") for part in listed(message.get("contents"))]
        if contents and not message.get("content"):
            message["content"] = contents
        calls = listed(message.get("tool_calls"))
        message["tool_calls"] = [mapping_of(call).get("tool_call") for call in calls]
        read = read_message(message, role)
        if read is not None:
            yield read


def _documents(values: Mapping[str, Json]) -> Iterator[Document]:
    for prefix in ("retrieval.documents.", "reranker.output_documents."):
        for item in unflattened(values, prefix):
            document = mapping_of(item.get("document"))
            details = mapping_of(parsed(document.get("metadata")))
            source = details.get("source") or details.get("uri") or document.get("id")
            yield Document(text_of(document.get("content")), text_of(source), amount(document.get("score")))
