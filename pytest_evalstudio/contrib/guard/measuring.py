"""Figures of the guard service for Prometheus; they hold no text."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from pytest_evalstudio.contrib.guard.results import GuardWord

PREFIX = "evalstudio_guard"


class Measures:
    """Counters and histograms of one service."""

    def __init__(self) -> None:
        # The common registry refuses a second service in the same process.
        self._registry = CollectorRegistry()
        self._checks = self._counter("checks", "Checked answers", "verdict")
        self._failures = self._counter("failures", "Requests without a verdict", "reason")
        self._reloads = self._counter("reloads", "Changed configurations", "result")
        self._replacements = self._counter("workers_replaced", "Workers that were replaced", "reason")
        self._closings = self._counter("connections_closed", "Connections closed by a limit", "reason")
        self._seconds = Histogram(
            f"{PREFIX}_request_seconds",
            "Duration of a request, waiting included",
            registry=self._registry,
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
        )
        self._sizes = Histogram(
            f"{PREFIX}_batch_size",
            "Answers of a batch",
            registry=self._registry,
            buckets=(1, 2, 4, 8, 16, 32, 64),
        )

    def checked(self, verdicts: Sequence[GuardWord], seconds: float) -> None:
        """Count a request."""
        for verdict in verdicts:
            self._checks.labels(verdict).inc()
        self._seconds.observe(seconds)

    def failed(self, reason: str) -> None:
        """Count a request without a verdict."""
        self._failures.labels(reason).inc()

    def batched(self, size: int) -> None:
        """Count a batch."""
        self._sizes.observe(size)

    def reloaded(self, *, accepted: bool) -> None:
        """Count a changed configuration."""
        self._reloads.labels("accepted" if accepted else "refused").inc()

    def replaced(self, reason: str) -> None:
        """Count a worker that was stopped ("timeout") or has ended by itself ("ended")."""
        self._replacements.labels(reason).inc()

    def closed(self, reason: str) -> None:
        """Count a connection that a limit has closed."""
        self._closings.labels(reason).inc()

    def render(self) -> bytes:
        """Return all figures in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, label: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", text, [label], registry=self._registry)
