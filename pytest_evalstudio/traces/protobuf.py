"""Spans and log records in the protobuf encoding of OTLP.

Source: https://opentelemetry.io/docs/specs/otlp/#binary-protobuf-encoding
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.traces.spans import Event, Span, failure, interval

_PURPOSE = "spans in protobuf"
_SERVER, _ERROR = 2, 2
"""Numbers of `SPAN_KIND_SERVER` and `STATUS_CODE_ERROR`."""


def read_spans(body: bytes) -> Iterator[tuple[str, Span, int]]:
    """Yield the spans of an `ExportTraceServiceRequest`, each with the id of its trace and its size.

    Raises:
        ConfigurationError: if opentelemetry-proto is not installed.
        ValueError: if the body is malformed.
    """
    request = _request("trace", "ExportTraceServiceRequest", body)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield span.trace_id.hex(), _span(span), span.ByteSize()


def read_log_records(body: bytes) -> Iterator[tuple[str, str, Event, int]]:
    """Yield the records of an `ExportLogsServiceRequest`, each with its trace, its span and its size.

    Raises:
        ConfigurationError: if opentelemetry-proto is not installed.
        ValueError: if the body is malformed.
    """
    request = _request("logs", "ExportLogsServiceRequest", body)
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                attributes = _attributes(record.attributes)
                name = record.event_name or attributes.get("event.name")
                event = Event(
                    name=name if isinstance(name, str) else "",
                    attributes=attributes,
                    body=_value(record.body),
                )
                yield record.trace_id.hex(), record.span_id.hex(), event, record.ByteSize()


def partial_success(rejected: int, message: str) -> bytes:
    """Return the reply to a request some of whose spans were rejected."""
    service = import_extra("opentelemetry.proto.collector.trace.v1.trace_service_pb2", _PURPOSE, extra="otel")
    reply = service.ExportTraceServiceResponse()
    reply.partial_success.rejected_spans = rejected
    reply.partial_success.error_message = message
    encoded: bytes = reply.SerializeToString()
    return encoded


def _request(signal: str, name: str, body: bytes) -> Any:
    service = import_extra(
        f"opentelemetry.proto.collector.{signal}.v1.{signal}_service_pb2", _PURPOSE, extra="otel"
    )
    message = import_extra("google.protobuf.message", _PURPOSE, extra="otel")
    try:
        return getattr(service, name).FromString(body)
    except message.DecodeError as exc:
        raise ValueError(f"the body is not valid {name}: {exc}") from None


def _span(span: Any) -> Span:
    started_s, duration_s = interval(span.start_time_unix_nano, span.end_time_unix_nano)
    events = tuple(Event(name=event.name, attributes=_attributes(event.attributes)) for event in span.events)
    return Span(
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        name=span.name,
        started_s=started_s,
        duration_s=duration_s,
        attributes=_attributes(span.attributes),
        events=events,
        error=failure(span.status.message, events) if span.status.code == _ERROR else "",
        is_server=span.kind == _SERVER,
    )


def _attributes(pairs: Iterable[Any]) -> dict[str, Json]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Json:
    """Return a value; protobuf itself refuses those that are nested more than 100 deep."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    content = getattr(value, kind)
    if kind == "array_value":
        return [_value(item) for item in content.values]
    if kind == "kvlist_value":
        return _attributes(content.values)
    if kind == "bytes_value":
        return content.hex()  # type: ignore[no-any-return]
    return content  # type: ignore[no-any-return]
