"""Spans of the OpenTelemetry conventions for generative AI, and of OpenLLMetry, which flattens messages.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.imported.records import mapping_of
from pytest_evalstudio.traces import adk
from pytest_evalstudio.traces.facts import NO_FACTS, Document, Facts, Kind, TraceMessage
from pytest_evalstudio.traces.json_messages import read_json_messages
from pytest_evalstudio.traces.messages import (
    amount,
    call_of,
    documents_of,
    is_unread,
    listed,
    parsed,
    read_message,
    read_messages,
    text_of,
    unflattened,
    unwrapped,
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
    "vector_db_retrieve": "retrieval",  # of OpenLLMetry
    "apply_guardrail": "guardrail",
    "evaluate": "guardrail",
    "guardrail": "guardrail",
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
    "cache_write_tokens": ("gen_ai.usage.cache_creation.input_tokens",),
    "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens",),
}
_INPUTS = ("gen_ai.input.messages", "gen_ai.prompt")
_OUTPUTS = ("gen_ai.output.messages", "gen_ai.completion")
_JSON = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions")
"""Attributes that are JSON, and no plain text."""
_ARGUMENTS = ("gen_ai.tool.call.arguments", "traceloop.entity.input", adk.ARGUMENTS)
_RESULTS = ("gen_ai.tool.call.result", "traceloop.entity.output", adk.RESULT)
_RUN = frozenset({"input_str", "inputs", "tags", "metadata", "kwargs"})
"""Keys of what OpenLLMetry records of a tool of LangChain; its arguments are among them."""
_UNKNOWN_RESULT = {"result": adk.UNKNOWN}
_LANGCHAIN_RESULT = frozenset({"output", "kwargs"})
_DOCUMENTS = "gen_ai.retrieval.documents"
_SYSTEM = "gen_ai.system_instructions"
_CHOICE = "gen_ai.choice"
_TOOL_EVENT = "gen_ai.tool.message"
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
            call=_call(span),
            says_arguments=_has(values, _ARGUMENTS) or _TOOL_EVENT in _event_names(span),
            session=_session(values),
        )
    inputs, outputs, unread = _messages(span)
    return Facts(
        kind=kind,
        name=_name(kind, values),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        question=_query(values) if kind == "retrieval" else _text(values, "traceloop.entity.input"),
        answer=_text(values, "traceloop.entity.output"),
        served_model=text_of(values.get("gen_ai.response.model")) or adk.served_model_of(values),
        request_id=text_of(values.get("gen_ai.response.id")),
        finish_reason=_finish_reason(values.get("gen_ai.response.finish_reasons")),
        usage=usage_of(values, _USAGE),
        cost_usd=amount(values.get("gen_ai.usage.cost")),
        documents=_documents(values),
        session=_session(values),
        unread=(*[f"value of {name!r}" for name in unread], *adk.unread_of(values)),
    )


def _name(kind: Kind, values: Mapping[str, Json]) -> str:
    """Return the model, agent, chain or source of documents."""
    if kind == "model":
        return text_of(values.get("gen_ai.request.model") or values.get("gen_ai.response.model"))
    if kind == "agent":
        return text_of(values.get("gen_ai.agent.name") or values.get("traceloop.entity.name"))
    if kind == "chain":
        return text_of(values.get("gen_ai.workflow.name") or values.get("traceloop.entity.name"))
    return text_of(values.get("gen_ai.data_source.id")) if kind == "retrieval" else ""


def _session(values: Mapping[str, Json]) -> str:
    session = values.get("gen_ai.conversation.id") or values.get("session.id")
    if session is None or session == "":
        session = values.get(adk.SESSION)
    return text_of(session)


def _query(values: Mapping[str, Json]) -> str:
    query = mapping_of(parsed(values.get("traceloop.entity.input"))).get("query")
    return _text({"query": query, **values}, "gen_ai.retrieval.query.text", "query")


def _text(values: Mapping[str, Json], *names: str) -> str:
    """Return the first text that is not empty, "" without one."""
    for name in names:
        if value := values.get(name):
            return text_of(value)
    return ""


def _first(values: Mapping[str, Json], names: Iterable[str]) -> Json:
    """Return the value of the first attribute that there is, None without one."""
    for name in names:
        if name in values:
            return values[name]
    return None


def _tool_name(values: Mapping[str, Json]) -> str:
    return text_of(values.get("gen_ai.tool.name") or values.get("traceloop.entity.name"))


def _event_names(span: Span) -> Iterator[str]:
    return (event.name for event in span.events)


def _call(span: Span) -> ToolCall | None:
    values = span.attributes
    arguments, result = _first(values, _ARGUMENTS), _first(values, _RESULTS)
    for event in span.events:  # Strands records both as events
        if event.name == _TOOL_EVENT and arguments is None:
            arguments = event.attributes.get("content")
        elif event.name == _CHOICE and result is None:
            result = _texts(event.attributes.get("message"))
    id, status = values.get("gen_ai.tool.call.id"), values.get("gen_ai.tool.status")
    if id == adk.UNKNOWN:
        id = None
    run = mapping_of(parsed(arguments))
    arguments = run or arguments  # an object is not parsed again
    if run.keys() >= _RUN:
        arguments = run["inputs"] or run["input_str"]
        id = id or mapping_of(run.get("kwargs")).get("tool_call_id")
    output = mapping_of(parsed(result))
    if output == _UNKNOWN_RESULT:
        result = None
    if output.keys() == _LANGCHAIN_RESULT:
        message = unwrapped(mapping_of(output["output"]))
        result = message.get("content") if message.get("type") == "tool" else output["output"]
        status = message.get("status")
        id = id or message.get("tool_call_id")
    return call_of(_tool_name(values), arguments, id, result, failed=status == "error")


def _texts(value: Json) -> Json:
    """Return the text of a result, which may be a list of parts."""
    message = read_message({"role": "user", "content": parsed(value)})
    return message.text if message is not None and message.text else value


def _documents(values: Mapping[str, Json]) -> tuple[Document, ...]:
    if _DOCUMENTS in values:
        return tuple(documents_of(values[_DOCUMENTS]))
    if "traceloop.entity.output" not in values:
        return ()
    output = mapping_of(parsed(values["traceloop.entity.output"]))
    return tuple(documents_of(output["documents"])) if "documents" in output else ()


def _messages(span: Span) -> tuple[list[TraceMessage], list[TraceMessage], list[str]]:
    """Return the messages of a span: of its attributes, else of its events and log records.

    Returns:
        Inputs, outputs, and the names of the attributes that should be JSON and are not.
    """
    values = span.attributes
    inputs, outputs, unread = _of_attributes(values)
    if not (inputs or outputs):
        inputs, outputs = adk.messages_of(values)
    if not (inputs and outputs):
        for event in span.events:
            in_event, out_event = _of_event(event)
            inputs += in_event if not _has(values, _INPUTS) else []
            outputs += out_event if not _has(values, _OUTPUTS) else []
    return inputs, outputs, unread


def _has(values: Mapping[str, Json], names: Iterable[str]) -> bool:
    return not values.keys().isdisjoint(names)


def _of_attributes(
    values: Mapping[str, Json],
) -> tuple[list[TraceMessage], list[TraceMessage], list[str]]:
    """Return the messages of attributes, see `_messages`."""
    unread: list[str] = []
    inputs = _of_names(values, _INPUTS, "user", "gen_ai.prompt.", unread)
    outputs = _of_names(values, _OUTPUTS, "assistant", "gen_ai.completion.", unread)
    if _SYSTEM in values:
        inputs = _system(values[_SYSTEM], unread) + inputs
    return inputs, outputs, unread


def _system(value: Json, unread: list[str]) -> list[TraceMessage]:
    parts = parsed(value)
    if is_unread(value, parts):
        unread.append(_SYSTEM)
    system: Json = {"role": "system", "parts": parts} if isinstance(parts, list) else parts
    return read_messages(system, "system")


def _of_names(
    values: Mapping[str, Json], names: Iterable[str], role: str, prefix: str, unread: list[str]
) -> list[TraceMessage]:
    """Return the messages of the named attributes, else of those whose names begin with a prefix.

    Args:
        unread: gets the names of the attributes that should be JSON and are not.
    """
    if not _has(values, names):
        return list(_flattened(values, prefix, role))
    messages: list[TraceMessage] = []
    for name in names:
        if name not in values:
            continue
        read = read_json_messages if name in _JSON else read_messages
        attribute = read(values[name], role)
        if attribute is None:
            unread.append(name)
        else:
            messages += attribute
    return messages


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
        content = parsed(values.get("content"))
        if isinstance(content, list):  # Strands has the parts of Amazon Bedrock, results in a user's message
            return read_messages({"role": _of_results(role), "content": content}, role), []
        message = {**values, "role": role, "tool_call_id": values.get("tool_call_id") or values.get("id")}
        return read_messages(_plain(message), role), []
    if event.name == _CHOICE:
        reply = parsed(values.get("message"))
        if isinstance(reply, list):
            reply = {"role": "assistant", "content": reply}
        return [], read_messages(_plain(reply), "assistant")
    if event.name in (*_DETAILS_EVENTS, *_CONTENT_EVENTS):
        return _of_attributes(values)[:2]
    return [], []


def _of_results(role: str) -> str:
    return "user" if role == "tool" else role


def _plain(message: Json) -> Json:
    """Return a message whose calls are no JSON text, as attributes of span events are."""
    if isinstance(message, dict) and isinstance(message.get("tool_calls"), str):
        return {**message, "tool_calls": parsed(message["tool_calls"])}
    return message


def _finish_reason(value: Json) -> str:
    """Return the reason of the first choice; the attribute is a list, or the JSON of one."""
    if value is None:
        return ""
    value = parsed(value)
    first = value[0] if isinstance(value, list | tuple) and value else value
    return finish_reason(first) if isinstance(first, str) else ""
