"""Spans in OTLP JSON for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TRACE = "5b8efff798038103d269b633813fc60c"
START_NS = 1_700_000_000_000_000_000


def any_value(value: object) -> dict[str, Any]:
    """Return a value as OTLP JSON."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": pairs(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {"stringValue": str(value)}


def pairs(attributes: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return attributes as OTLP JSON."""
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items()]


def span(
    number: int,
    attributes: Mapping[str, object],
    *,
    parent: int | None = None,
    trace: str = TRACE,
    name: str = "span",
    start_s: float = 0.0,
    seconds: float = 1.0,
    **fields: Any,
) -> dict[str, Any]:
    """Return a span, which starts some seconds after `START_NS`."""
    start = START_NS + int(start_s * 1e9)
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent is not None else {}),
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + int(seconds * 1e9)),
        "attributes": pairs(attributes),
        **fields,
    }


def log_record(
    number: int, name: str, body: object = None, trace: str = TRACE, **attributes: object
) -> dict[str, Any]:
    """Return a log record of a span."""
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "eventName": name,
        "attributes": pairs({key.replace("__", "."): value for key, value in attributes.items()}),
        **({"body": any_value(body)} if body is not None else {}),
    }


def batch(spans: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a batch of spans."""
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": list(spans)}]}]}


def logs(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a batch of log records."""
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def write_lines(name: str, *values: object) -> str:
    """Write JSON lines; return the name of the file."""
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return name


def user(text: str) -> dict[str, Any]:
    """Return a message of the user in the GenAI conventions."""
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def assistant(text: str = "", *calls: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of the assistant in the GenAI conventions."""
    parts = [{"type": "text", "content": text}] if text else []
    return {"role": "assistant", "parts": [*parts, *({"type": "tool_call", **call} for call in calls)]}


def chat(question: str, answer: str, **attributes: object) -> dict[str, object]:
    """Return the attributes of a chat span."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m1",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.input.messages": json.dumps([user(question)]),
        "gen_ai.output.messages": json.dumps([assistant(answer)]),
        **{key.replace("__", "."): value for key, value in attributes.items()},
    }


def tool(name: str, **attributes: object) -> dict[str, object]:
    """Return the attributes of the span of a tool."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        **{f"gen_ai.tool.call.{key}": value for key, value in attributes.items()},
    }


AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
