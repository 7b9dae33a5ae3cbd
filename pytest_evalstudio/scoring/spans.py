"""First start and last end of each evaluator's scoring."""

from __future__ import annotations

import datetime

from pytest_evalstudio.record.schema import EvaluatorSpan


class EvaluatorSpans:
    """Notes when evaluators score their batches, until the times are taken for the record."""

    def __init__(self) -> None:
        self._spans: dict[str, tuple[float, float]] = {}

    def note(self, evaluator: str, started: float, finished: float) -> None:
        """Extend the span of an evaluator by one batch.

        Args:
            evaluator: its id.
            started, finished: seconds since the epoch.
        """
        first, last = self._spans.get(evaluator, (started, finished))
        # All four are compared: a clock that is set back ends a batch before it began.
        times = (first, last, started, finished)
        self._spans[evaluator] = min(times), max(times)

    def take(self) -> dict[str, EvaluatorSpan]:
        """Return the spans since the last call, by evaluator id."""
        spans, self._spans = self._spans, {}
        return {
            id: EvaluatorSpan(started=_iso(started), finished=_iso(finished))
            for id, (started, finished) in spans.items()
        }


def _iso(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="milliseconds")
