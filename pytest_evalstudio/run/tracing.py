"""Spans of the applications that a pytest session asks."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.asking.tracing import PREFIX_CHARS, Tracing
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import TraceTable
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.text.figures import counted
from pytest_evalstudio.traces.collecting import SpanSource, SpanStore
from pytest_evalstudio.traces.in_process import InProcessSpans
from pytest_evalstudio.traces.receiver import Receiver
from pytest_evalstudio.traces.remote import RemoteSpans

ENDPOINT = "EVALSTUDIO_OTLP_ENDPOINT"
"""Variable with the address of the receiver, for fixtures that start an application."""


class SessionTracing:
    """Receiver and sources of spans of one process of a run; closed with the services of its session.

    Args:
        table: of the configuration.
        run: whose questions have the spans.
        closing: closes the receiver at the end.

    Attributes:
        spans_at: address for the workers of this process, "" without a receiver.

    Raises:
        ConfigurationError: if the port is in use, or nothing can provide spans.
    """

    def __init__(self, project: Project, table: TraceTable, run: AskingRun, closing: ExitStack) -> None:
        self._project = project
        self._closing = closing
        prefix = run.id[:PREFIX_CHARS]
        is_worker = project.settings.command_line.is_worker
        self._store = SpanStore(prefix, receives=table.port is not None and not is_worker)
        sources: list[SpanSource] = [self._store] if table.in_process or table.port is not None else []
        self.spans_at = ""
        self._receiver: Receiver | None = None
        if is_worker and run.spans_at:
            sources.append(RemoteSpans(run.spans_at))
            self._offer(run.spans_at.rsplit("/", 2)[0])
        elif table.port is not None and not is_worker:
            receiver = self._receiver = Receiver(self._store, table.port)
            closing.callback(receiver.close)
            receiver.start()
            self.spans_at = receiver.spans_at
            self._offer(receiver.endpoint)
        in_process = _in_process(self._store, table)
        if in_process is not None:
            closing.callback(in_process.close)
        closing.callback(self._report)
        self.tracing = Tracing(prefix=prefix, sources=sources, wait_s=table.wait_s, in_process=in_process)

    def _offer(self, endpoint: str) -> None:
        """Name the receiver to what tests start, until the session ends."""
        earlier = os.environ.get(ENDPOINT)
        os.environ[ENDPOINT] = endpoint

        def restore() -> None:
            os.environ.pop(ENDPOINT, None)
            if earlier is not None:
                os.environ[ENDPOINT] = earlier

        self._closing.callback(restore)

    def _report(self) -> None:
        """Warn of refused requests, and of spans that no answer has."""
        config = self._project.settings.session
        if self._receiver is not None and (refusals := self._receiver.traffic.sentence):
            self._project.warn(f"trace: {refusals}", Path(config.file or config.folder))
        elif self._receiver is not None and self._store.silent and not self._receiver.traffic.requests:
            self._project.warn(
                f"trace: the receiver at {self._receiver.endpoint} got no request; let the application export"
                " its spans there (OTEL_EXPORTER_OTLP_ENDPOINT)",
                Path(config.file or config.folder),
            )
        if self._store.late:
            self._project.warn(
                f"trace: {counted(self._store.late, 'span')} came later than [trace] wait_s ="
                f" {config.trace.wait_s if config.trace else 0:g} s and cannot be added to an answer; let"
                " the application export sooner (OTEL_BSP_SCHEDULE_DELAY=100), or raise wait_s",
                Path(config.file or config.folder),
            )
        if self._store.foreign:
            self._project.warn(
                f"trace: {counted(self._store.foreign, 'span')} cannot be matched to a question of this"
                " run; an application in another process must continue the trace of the traceparent"
                " header",
                Path(config.file or config.folder),
            )


def _in_process(store: SpanStore, table: TraceTable) -> InProcessSpans | None:
    """Return what watches this process; None where the SDK is absent, and spans come by the receiver."""
    if not table.in_process:
        return None
    try:
        return InProcessSpans(store)
    except ConfigurationError:
        if table.port is None:
            raise
        return None
