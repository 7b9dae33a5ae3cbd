"""Spans in the JSON of Jaeger's API and user interface.

Source: https://www.jaegertracing.io/docs/2.0/apis/
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.traces.spans import Event, Span, failure, hex_id, interval

_CHILD_OF = "CHILD_OF"


class _Tag(Struct):
    key: str
    value: str | int | float | bool | None = None


class _Log(Struct):
    fields: list[_Tag] = []


class _Reference(Struct, rename={"kind": "refType", "span": "spanID"}):
    kind: str = ""
    span: str = ""


_NAMES = {"id": "spanID", "parent": "parentSpanID", "name": "operationName", "start_us": "startTime"}


class _Span(Struct, rename=_NAMES):
    id: str = ""
    parent: str = ""
    name: str = ""
    start_us: int = 0
    duration: int | None = None
    references: list[_Reference] | None = None
    tags: list[_Tag] | None = None
    logs: list[_Log] | None = None


_SPANS = msgspec.json.Decoder(_Span)


def read_span(text: bytes) -> Span:
    """Read a span; its times are in microseconds.

    Raises:
        ValueError: if it is malformed.
    """
    span = _SPANS.decode(text)
    tags = _values(span.tags)
    parents = [link.span for link in span.references or () if link.kind == _CHILD_OF]
    end_us = span.start_us + span.duration if span.duration is not None else 0
    started_s, duration_s = interval(span.start_us * 1000, end_us * 1000)
    events = tuple(_event(log) for log in span.logs or ())
    failed = tags.get("otel.status_code") == "ERROR" or tags.get("error") in (True, "true")
    return Span(
        id=hex_id(span.id),
        parent=hex_id(parents[0] if parents else span.parent),
        name=span.name,
        started_s=started_s,
        duration_s=duration_s,
        attributes=tags,
        events=events,
        error=failure(str(tags.get("otel.status_description") or ""), events) if failed else "",
    )


def _event(log: _Log) -> Event:
    fields = _values(log.fields)
    return Event(name=str(fields.get("event") or ""), attributes=fields)


def _values(tags: list[_Tag] | None) -> dict[str, Json]:
    return {tag.key: tag.value for tag in tags or ()}
