"""Figures of the guard service for Prometheus; they hold no text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.guard.results import GuardWord

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PREFIX = "evalstudio_guard"


class Measures:
    """Counters and histograms of one service.

    Args:
        registry: where they are collected.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Histogram

        self._checks = Counter(f"{PREFIX}_checks", "Checked answers", ["verdict"], registry=registry)
        self._failures = Counter(
            f"{PREFIX}_failures", "Requests without a verdict", ["reason"], registry=registry
        )
        self._reloads = Counter(f"{PREFIX}_reloads", "Changed configurations", ["result"], registry=registry)
        self._seconds = Histogram(
            f"{PREFIX}_request_seconds",
            "Duration of a request, waiting included",
            registry=registry,
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
        )
        self._sizes = Histogram(
            f"{PREFIX}_batch_size", "Answers of a batch", registry=registry, buckets=(1, 2, 4, 8, 16, 32, 64)
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
