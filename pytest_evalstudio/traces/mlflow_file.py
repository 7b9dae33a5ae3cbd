"""Spans in the JSON of a trace of MLflow, as `Trace.to_json` writes it."""

from __future__ import annotations

import msgspec

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import items_of, mapping_of
from pytest_evalstudio.traces.messages import amount, text_of
from pytest_evalstudio.traces.spans import Event, Span, failure, hex_id, interval

_ERRORS = ("STATUS_CODE_ERROR", "ERROR")


def read_span(text: bytes) -> Span:
    """Read a span; its attributes are JSON texts, as those that MLflow exports.

    Raises:
        ValueError: if it is malformed.
    """
    values = mapping_of(msgspec.json.decode(text))
    context = mapping_of(values.get("context"))
    status = values.get("status") or values.get("status_code")
    code = mapping_of(status).get("code", status)
    message = mapping_of(status).get("message") or values.get("status_message")
    started_s, duration_s = interval(
        _nanoseconds(values, "start_time_unix_nano", "start_time"),
        _nanoseconds(values, "end_time_unix_nano", "end_time"),
    )
    events = tuple(
        Event(name=text_of(event.get("name")), attributes=mapping_of(event.get("attributes")))
        for event in map(mapping_of, items_of(values.get("events")))
    )
    return Span(
        id=hex_id(text_of(values.get("span_id") or context.get("span_id"))),
        parent=hex_id(text_of(values.get("parent_span_id") or values.get("parent_id"))),
        name=text_of(values.get("name")),
        started_s=started_s,
        duration_s=duration_s,
        attributes=mapping_of(values.get("attributes")),
        events=events,
        error=failure(text_of(message), events) if code in _ERRORS else "",
    )


def _nanoseconds(values: dict[str, Json], *names: str) -> int:
    number = next((amount(values[name]) for name in names if name in values), None)
    return int(number) if number is not None else 0
