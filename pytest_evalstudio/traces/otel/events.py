"""Scores of a record as `gen_ai.evaluation.result` events in OTLP JSON.

Sources: OpenTelemetry semantic conventions for generative AI, events; OTLP specification, JSON encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.tracing import trace_and_span
from pytest_evalstudio.record.items import Item, RecordRow
from pytest_evalstudio.record.schema import Run

EVENT = "gen_ai.evaluation.result"
INFORMATION, WARNING = 9, 13
"""Severity numbers of OTLP: of a score, and of an evaluator that gave none because of an error."""
MAX_EVENTS = 500
"""Events of one request; with texts they take about 300 kB, below the limits of common collectors (4 MB)."""


class Value(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Value of an attribute; one of its fields is set."""

    string_value: str | None = None
    double_value: float | None = None
    int_value: str | None = None


class Attribute(Struct, frozen=True):
    """Name and value of a property."""

    key: str
    value: Value


class LogRecord(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Event; times are nanoseconds since 1970 as text, as OTLP has them.

    Attributes:
        trace_id, span_id: of the span that is judged, hexadecimal; "" where it is not known.
    """

    time_unix_nano: str
    event_name: str
    severity_number: int
    attributes: tuple[Attribute, ...]
    trace_id: str = ""
    span_id: str = ""


class _Named(Struct, frozen=True, kw_only=True):
    name: str
    version: str


class _ScopeLogs(Struct, frozen=True, kw_only=True, rename="camel"):
    scope: _Named
    log_records: tuple[LogRecord, ...]


class _Resource(Struct, frozen=True, kw_only=True):
    attributes: tuple[Attribute, ...]


class _ResourceLogs(Struct, frozen=True, kw_only=True, rename="camel"):
    resource: _Resource
    scope_logs: tuple[_ScopeLogs, ...]


class _Request(Struct, frozen=True, kw_only=True, rename="camel"):
    resource_logs: tuple[_ResourceLogs, ...]


def requests(run: Run, items: Iterable[Item], *, texts: bool = False) -> Iterator[tuple[bytes, int]]:
    """Yield requests of the log service of OTLP, each JSON on one line, and the number of events in each.

    Args:
        run: header of the record.
        items: of the record, read one by one.
        texts: whether events have the reasons of scores, which quote answers.
    """
    batch: list[LogRecord] = []
    for event in events(run, items, texts=texts):
        batch.append(event)
        if len(batch) == MAX_EVENTS:
            yield _encoded(run, batch), len(batch)
            batch = []
    if batch:
        yield _encoded(run, batch), len(batch)


def events(run: Run, items: Iterable[Item], *, texts: bool = False) -> Iterator[LogRecord]:
    """Yield an event for each score, and one for each evaluator that gave none because of an error.

    An evaluator that does not apply to an answer gives no event.
    """
    metrics = {
        name: {metric.key: metric for metric in evaluator.metrics}
        for name, evaluator in run.evaluators.items()
    }
    time = _nanoseconds(run.created)
    for item in items:
        for row in item.rows:
            trace_id, span_id = trace_and_span(row.answer.traceparent)
            subject = _subject(run, item, row)
            for evaluator, outcome in row.outcomes.items():
                for severity, attributes in _results(evaluator, outcome, metrics.get(evaluator, {}), texts):
                    yield LogRecord(
                        time_unix_nano=time,
                        event_name=EVENT,
                        severity_number=severity,
                        attributes=(*attributes, *subject),
                        trace_id=trace_id,
                        span_id=span_id,
                    )


def _results(
    evaluator: str, outcome: Outcome, metrics: Mapping[str, Metric], texts: bool
) -> Iterator[tuple[int, list[Attribute]]]:
    """Yield severity and attributes of each score of an evaluator, or of its error."""
    explanation = [text("gen_ai.evaluation.explanation", outcome.reason)] if texts and outcome.reason else []
    if outcome.status == "error":
        name = text("gen_ai.evaluation.name", evaluator)
        yield WARNING, [name, text("error.type", outcome.code or "_OTHER"), *explanation]
        return
    for key, score in outcome.scores.items():
        if score is None:
            continue
        attributes = [
            text("gen_ai.evaluation.name", f"{evaluator}.{key}"),
            Attribute("gen_ai.evaluation.score.value", Value(double_value=float(score))),
        ]
        label = label_of(metrics[key], score) if key in metrics else ""
        if label:
            attributes.append(text("gen_ai.evaluation.score.label", label))
        yield INFORMATION, [*attributes, *explanation]


def label_of(metric: Metric, score: float) -> str:
    """Return "pass" or "fail" where the metric decides, else ""."""
    if not (metric.primary or metric.decides):
        return ""
    meets = score >= metric.threshold if metric.better == "higher" else score <= metric.threshold
    return "pass" if meets else "fail"


def _subject(run: Run, item: Item, row: RecordRow) -> list[Attribute]:
    """Return the attributes that name the answer."""
    named = {
        "gen_ai.response.id": row.answer.request_id,
        "gen_ai.response.model": row.answer.served_model,
        "gen_ai.conversation.id": row.answer.session,
        "test.suite.name": item.file,
        "test.case.name": item.nodeid,
        "test.case.result.status": {"passed": "pass", "failed": "fail"}.get(item.verdict, ""),
        "evalstudio.model": run.model_name(item.model_key),
    }
    return [
        *(text(name, value) for name, value in named.items() if value),
        Attribute("evalstudio.repeat", Value(int_value=str(row.run))),
    ]


def text(name: str, value: str) -> Attribute:
    """Return an attribute whose value is text.

    >>> text("a", "b")
    Attribute(key='a', value=Value(string_value='b', double_value=None, int_value=None))
    """
    return Attribute(name, Value(string_value=value))


def _encoded(run: Run, batch: list[LogRecord]) -> bytes:
    resource = _Resource(
        attributes=(text("service.name", run.tool.name), text("evalstudio.run.id", run.run_id))
    )
    scope = _Named(name=run.tool.name, version=run.tool.version)
    logs = _ResourceLogs(resource=resource, scope_logs=(_ScopeLogs(scope=scope, log_records=tuple(batch)),))
    return msgspec.json.encode(_Request(resource_logs=(logs,)))


def _nanoseconds(created: str) -> str:
    """Return a time of the record in nanoseconds since 1970."""
    return str(int(datetime.fromisoformat(created).timestamp()) * 10**9)
