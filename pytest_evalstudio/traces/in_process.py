"""Spans of an application in this process, from the OpenTelemetry SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.traces.collecting import SpanStore
from pytest_evalstudio.traces.spans import Event, Span, failure, interval

_PURPOSE = "[trace] with in_process = true"


class InProcessSpans:
    """Watches the tracer provider of the application, and names the question that its spans belong to.

    Args:
        store: gets the spans.

    Raises:
        ConfigurationError: if opentelemetry-sdk is not installed.
    """

    def __init__(self, store: SpanStore) -> None:
        self._trace = import_extra("opentelemetry.trace", _PURPOSE, extra="otel")
        self._context = import_extra("opentelemetry.context", _PURPOSE, extra="otel")
        self._sdk = import_extra("opentelemetry.sdk.trace", _PURPOSE, extra="otel")
        self._store: SpanStore | None = store
        self._watched: list[Any] = []

    def watch(self) -> None:
        """Watch the application's provider; it gets one of ours where it has set none.

        Raises:
            ConfigurationError: if its provider is not one of the SDK.
        """
        provider = self._trace.get_tracer_provider()
        if isinstance(provider, self._trace.ProxyTracerProvider):
            provider = self._sdk.TracerProvider()
            self._trace.set_tracer_provider(provider)
        if any(provider is other for other in self._watched):
            return
        if not hasattr(provider, "add_span_processor"):
            raise ConfigurationError(
                f"[trace] in_process: the application's tracer provider is a {type(provider).__name__}, which"
                " takes no span processor; use one of opentelemetry-sdk, or set in_process = false"
            )
        provider.add_span_processor(self._processor())
        self._watched.append(provider)

    @contextmanager
    def question(self, trace_id: str, span_id: str) -> Iterator[None]:
        """Make the spans that begin in this context, and in threads and tasks of it, those of a question."""
        self.watch()
        # Flag 1 is "sampled": by default the SDK drops spans whose parent is not.
        context = self._trace.SpanContext(
            int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=self._trace.TraceFlags(1)
        )
        parent = self._trace.set_span_in_context(self._trace.NonRecordingSpan(context))
        token = self._context.attach(parent)
        try:
            yield
        finally:
            self._context.detach(token)

    def close(self) -> None:
        """Take no more spans; the SDK has no way to remove a processor."""
        self._store = None

    def _processor(self) -> Any:
        watcher = self

        class Processor(self._sdk.SpanProcessor):  # type: ignore[misc, name-defined]
            def on_start(self, span: Any, parent_context: Any = None) -> None:
                if watcher._store is not None:
                    watcher._store.begin(f"{span.context.trace_id:032x}")

            def on_end(self, span: Any) -> None:
                if watcher._store is not None:
                    watcher._store.end(f"{span.context.trace_id:032x}", _span(span))

        return Processor()


def _span(span: Any) -> Span:
    started_s, duration_s = interval(span.start_time or 0, span.end_time or 0)
    failed = span.status.status_code.name == "ERROR"
    events = tuple(Event(name=event.name, attributes=_attributes(event.attributes)) for event in span.events)
    return Span(
        id=f"{span.context.span_id:016x}",
        parent=f"{span.parent.span_id:016x}" if span.parent is not None else "",
        name=span.name,
        started_s=started_s,
        duration_s=duration_s,
        attributes=_attributes(span.attributes),
        events=events,
        error=failure(span.status.description or "", events) if failed else "",
        is_server=span.kind.name == "SERVER",
    )


def _attributes(values: Mapping[str, object] | None) -> dict[str, Json]:
    return {name: _value(value) for name, value in (values or {}).items()}


def _value(value: object) -> Json:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return _attributes(value)
    return [_value(item) for item in value] if isinstance(value, Sequence) else str(value)
