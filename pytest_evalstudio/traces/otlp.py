"""Spans and log records in the JSON of OTLP.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.traces.spans import Event, Span, failure, hex_id, interval

MAX_DEPTH = 100
"""Maximum nesting of an attribute."""
_ERROR = (2, "STATUS_CODE_ERROR")
_SERVER = (2, "SPAN_KIND_SERVER")
_MAX_DIGITS = 25  # of a number in a text: enough for 64 bits


class _Values(Struct, gc=False):
    values: list[AnyValue] = []


class _Pairs(Struct, gc=False):
    values: list[KeyValue] = []


class AnyValue(Struct, rename="camel", gc=False):
    """Value of an attribute: the one field that is set."""

    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bool_value: bool | None = None
    array_value: _Values | None = None
    kvlist_value: _Pairs | None = None
    bytes_value: str | None = None


class KeyValue(Struct, gc=False):
    """Attribute."""

    key: str
    value: AnyValue | None = None


class _Status(Struct, gc=False):
    code: int | str = 0
    message: str = ""


class _Event(Struct, gc=False):
    name: str = ""
    attributes: list[KeyValue] = []


class _Span(Struct, rename="camel", gc=False):
    span_id: str = ""
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[KeyValue] = []
    events: list[_Event] = []
    status: _Status | None = None
    kind: int | str = 0


class _LogRecord(Struct, rename="camel", gc=False):
    span_id: str = ""
    event_name: str = ""
    attributes: list[KeyValue] = []
    body: AnyValue | None = None


_SPANS = msgspec.json.Decoder(_Span)
_LOGS = msgspec.json.Decoder(_LogRecord)


def read_span(text: bytes) -> Span:
    """Read a span.

    Raises:
        ValueError: if it is malformed or nested too deeply.
    """
    span = _SPANS.decode(text)
    started_s, duration_s = interval(whole(span.start_time_unix_nano), whole(span.end_time_unix_nano))
    status = span.status
    events = tuple(
        Event(name=event.name, attributes=attributes_of(event.attributes)) for event in span.events
    )
    return Span(
        id=hex_id(span.span_id),
        parent=hex_id(span.parent_span_id) if span.parent_span_id else "",
        name=span.name,
        started_s=started_s,
        duration_s=duration_s,
        attributes=attributes_of(span.attributes),
        events=events,
        error=failure(status.message, events) if status is not None and status.code in _ERROR else "",
        is_server=span.kind in _SERVER,
    )


def read_log_record(text: bytes) -> tuple[str, Event]:
    """Read a log record; return the id of its span, and the record.

    Raises:
        ValueError: if it is malformed or nested too deeply.
    """
    record = _LOGS.decode(text)
    attributes = attributes_of(record.attributes)
    name = record.event_name or attributes.get("event.name")
    body = _value(record.body, MAX_DEPTH) if record.body is not None else None
    return hex_id(record.span_id), Event(
        name=name if isinstance(name, str) else "", attributes=attributes, body=body
    )


def attributes_of(pairs: Iterable[KeyValue], depth: int = MAX_DEPTH) -> dict[str, Json]:
    """Return attributes by their keys.

    Raises:
        ValueError: if one is nested too deeply.
    """
    values: dict[str, Json] = {}
    for pair in pairs:
        value = pair.value
        if value is None:
            values[pair.key] = None
        elif value.string_value is not None:  # as nearly all
            values[pair.key] = value.string_value
        else:
            values[pair.key] = _value(value, depth)
    return values


def _value(value: AnyValue, depth: int) -> Json:
    if depth == 0:
        raise ValueError(f"an attribute is nested more than {MAX_DEPTH} levels deep")
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return whole(value.int_value)
    if value.array_value is not None:
        return [_value(item, depth - 1) for item in value.array_value.values]
    if value.kvlist_value is not None:
        return attributes_of(value.kvlist_value.values, depth - 1)
    if value.bool_value is not None:
        return value.bool_value
    return value.double_value if value.double_value is not None else value.bytes_value


def whole(value: int | str) -> int:
    """Return a whole number, which JSON of OTLP writes as a text; 0 for a text that is none."""
    if isinstance(value, int):
        return value
    try:
        return int(value) if len(value) <= _MAX_DIGITS else 0
    except ValueError:
        return 0
