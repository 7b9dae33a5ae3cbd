"""Spans of MLflow, whose attributes are JSON texts.

Source: https://mlflow.org/docs/latest/genai/concepts/span/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import ANSWER_KEYS, QUESTION_KEYS, mapping_of
from pytest_evalstudio.traces.exchanges import text_in
from pytest_evalstudio.traces.facts import NO_FACTS, Facts, Kind, TraceMessage
from pytest_evalstudio.traces.messages import (
    amount,
    call_of,
    documents_of,
    is_broken,
    parsed,
    read_messages,
    text_of,
    tokens,
)
from pytest_evalstudio.traces.spans import Span

KIND = "mlflow.spanType"
_KINDS: Mapping[str, Kind] = {
    "CHAT_MODEL": "model",
    "LLM": "model",
    "AGENT": "agent",
    "CHAIN": "chain",
    "WORKFLOW": "chain",
    "TOOL": "tool",
    "RETRIEVER": "retrieval",
    "RERANKER": "retrieval",
    "GUARDRAIL": "guardrail",
    "EVALUATOR": "guardrail",
}
_INPUTS, _OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


def is_mlflow(span: Span) -> bool:
    """Return whether a span follows these conventions."""
    return KIND in span.attributes


def read(span: Span) -> Facts:
    """Return the facts of a span."""
    values = span.attributes
    kind = _KINDS.get(text_of(parsed(values[KIND])).upper(), "")
    if not kind:
        return NO_FACTS
    inputs, outputs = parsed(values.get(_INPUTS)), parsed(values.get(_OUTPUTS))
    session = text_of(parsed(values.get("mlflow.trace.session") or values.get("session.id")))
    if kind == "tool":
        call = call_of(span.name, inputs, result=outputs)
        return Facts(kind=kind, name=span.name, call=call, says_arguments=_INPUTS in values, session=session)
    model = text_of(parsed(values.get("mlflow.llm.model") or values.get("model")))
    usage = mapping_of(parsed(values.get("mlflow.chat.tokenUsage")))
    cost = mapping_of(parsed(values.get("mlflow.llm.cost")))
    counts = {name: tokens(usage.get(key)) for name, key in _USAGE.items()}
    return Facts(
        kind=kind,
        name=model if kind == "model" else span.name,
        inputs=tuple(_messages(inputs, "user")),
        outputs=tuple(_messages(outputs, "assistant")),
        question=inputs if isinstance(inputs, str) else text_in(inputs, QUESTION_KEYS),
        answer=outputs if isinstance(outputs, str) else text_in(outputs, ANSWER_KEYS),
        served_model=model if kind == "model" else "",
        request_id=text_of(mapping_of(outputs).get("id")) if kind == "model" else "",
        usage={name: count for name, count in counts.items() if count is not None},
        cost_usd=amount(cost.get("total_cost")),
        documents=tuple(documents_of(outputs)) if kind == "retrieval" else (),
        session=session,
        unread=tuple(f"value of {name!r}" for name in (_INPUTS, _OUTPUTS) if is_broken(values.get(name))),
    )


def _messages(value: Json, role: str) -> Iterator[TraceMessage]:
    """Yield the messages in a recorded request or reply: of chat completions, Anthropic, or bare ones."""
    data = mapping_of(value)
    if isinstance(choices := data.get("choices"), list):
        value = [mapping_of(choice).get("message") for choice in choices[:1]]
    elif isinstance(data.get("messages"), list):
        value = data["messages"]
    elif not isinstance(value, list) and not ("role" in data and "content" in data):
        return
    yield from read_messages(value, role)
