"""Counts and statistics of the requests to one model, under the names of a lab's `llm_model_meta`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_evalstudio.core.cases import Answer


@dataclass(slots=True)
class Spread:
    """Number, sum and limits of values that are added one by one."""

    n: int = 0
    total: float = 0.0
    least: float = 0.0
    most: float = 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        self.least = min(self.least, value) if self.n else value
        self.most = max(self.most, value) if self.n else value
        self.n += 1
        self.total += value

    def as_dict(self) -> dict[str, float]:
        """Return n, sum, min, max and avg; all are 0 without values."""
        mean = self.total / self.n if self.n else 0.0
        return {"n": self.n, "sum": self.total, "min": self.least, "max": self.most, "avg": mean}


@dataclass(slots=True)
class AnswerFigures:
    """Statistics of answers.

    Attributes:
        durations: seconds until an answer was complete.
        first_tokens: seconds until the first part of a streamed answer.
        usage: tokens by kind, added up.
    """

    durations: Spread = field(default_factory=Spread)
    first_tokens: Spread = field(default_factory=Spread)
    usage: dict[str, int] = field(default_factory=dict)

    def add(self, duration_s: float | None, first_token_s: float | None, usage: Mapping[str, int]) -> None:
        """Add an answer; None is a value that its host does not report."""
        if duration_s is not None:
            self.durations.add(duration_s)
        if first_token_s is not None:
            self.first_tokens.add(first_token_s)
        for name, tokens in usage.items():
            self.usage[name] = self.usage.get(name, 0) + tokens

    def as_dict(self) -> dict[str, object]:
        """Return the statistics; those that no answer has are left out, except of the duration."""
        figures: dict[str, object] = {"duration_stats": self.durations.as_dict()}
        if self.first_tokens.n:
            figures["time_to_first_token_stats"] = self.first_tokens.as_dict()
        if self.usage:
            figures["usage"] = dict(sorted(self.usage.items()))
        return figures


class Counters:
    """Counts of one model's calls, answers, retries, timeouts and failures, and its statistics."""

    def __init__(self) -> None:
        self.call_count = 0
        self.success_count = 0
        self.retry_count = 0
        self.timeout_count = 0
        self.failure_count = 0
        self._figures = AnswerFigures()

    def success(self, answer: Answer) -> None:
        """Count an answer."""
        self.success_count += 1
        self._figures.add(answer.duration_s, answer.first_token_s, answer.usage)

    def as_dict(self) -> dict[str, object]:
        """Return the counters under the names of a lab's `llm_model_meta`."""
        return {
            "call_count": self.call_count,
            "success_count": self.success_count,
            "retry_count": self.retry_count,
            "timeout_count": self.timeout_count,
            "failure_count": self.failure_count,
            **self._figures.as_dict(),
        }
