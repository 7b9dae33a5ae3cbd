"""A collector of OpenTelemetry that accepts events by OTLP over HTTP in its JSON encoding."""

from __future__ import annotations

import base64
import json
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from support.service import Request, Response


def parsed(content: bytes | str) -> ExportLogsServiceRequest:
    """Parse a request by OpenTelemetry's own messages; unknown fields and wrong types are errors.

    Protobuf's JSON has bytes in base64, OTLP's has identifiers in hexadecimal.
    """
    body = json.loads(content)
    for record in _records(body):
        for name in ("traceId", "spanId"):
            if name in record:
                record[name] = base64.b64encode(bytes.fromhex(record[name])).decode()
    return json_format.ParseDict(body, ExportLogsServiceRequest())


def _records(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        record
        for resource in body["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def events_of(request: ExportLogsServiceRequest) -> list[LogRecord]:
    """Return the events of a request."""
    return [
        record
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def attributes_of(event: LogRecord) -> dict[str, Any]:
    """Return the attributes of an event by name."""
    return {
        attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value"))
        for attribute in event.attributes
    }


def accept(request: Request) -> Response:
    """Answer as a collector does; a request that is not valid is refused."""
    try:
        parsed(request.content)
    except (ValueError, KeyError, json_format.ParseError):
        return Response({"code": 3, "message": "invalid"}, status=400)
    return Response({"partialSuccess": {}})
