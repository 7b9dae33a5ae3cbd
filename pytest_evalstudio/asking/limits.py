"""Limits of the requests to a model: concurrency, pace, timeouts, end of the asking; and their counters."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from msgspec import Struct, field

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.errors import ConfigurationError

LONGEST_WAIT_S = 300.0
"""A service that asks to wait longer is not waited for: the case is an error that says so."""

BREAKER_REST_S = 30.0
"""After this many seconds one prompt is let through to see whether the host is back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of concurrency and pace for one model, in the whole run.

    Attributes:
        concurrency: requests at the same time; fewer while the service answers "too many requests".
        requests_per_minute: None for no limit; retries count too.
        timeout_s: timeout per attempt, in seconds.
        deadline_s: seconds for a question with all its attempts and waits; None for no limit.
        retries: further attempts after the first; those that the service refuses for the rate of the
            requests (429) are not counted.
        rate_limit_wait_s: seconds that a question waits at most, in all, while the service refuses the rate
            of the requests; 0 for not at all.
        breaker: so many prompts in a row without an answer from the host make it count as dead; 0 for never.
    """

    concurrency: int = 8
    requests_per_minute: float | None = None
    timeout_s: float = 120.0
    retries: int = 2
    breaker: int = 5
    deadline_s: float | None = None
    rate_limit_wait_s: float = 300.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None and item.default is None:
                continue
            if isinstance(value, bool) or not isinstance(
                value, int if isinstance(item.default, int) else int | float
            ):
                raise ConfigurationError(
                    f"{item.name} = {value!r}: must be a"
                    f" {'whole ' if isinstance(item.default, int) else ''}number"
                )
            if not math.isfinite(value):
                raise ConfigurationError(f"{item.name} = {value!r}: must be a finite number")
            may_be_zero = item.name in ("retries", "breaker", "rate_limit_wait_s")
            if value < 0 or (value == 0 and not may_be_zero):
                raise ConfigurationError(
                    f"{item.name} = {value!r}: must be {'0 or more' if may_be_zero else 'more than 0'}"
                )

    def share(self, workers: int) -> Limits:
        """The part of one of so many processes that ask the same model at the same time.

        >>> part = Limits(concurrency=8, requests_per_minute=60).share(3)
        >>> part.concurrency, part.requests_per_minute
        (2, 20.0)
        """
        if workers <= 1:
            return self
        rate = None if self.requests_per_minute is None else self.requests_per_minute / workers
        # At least one: more workers than requests would otherwise ask nothing.
        return replace(self, concurrency=max(1, self.concurrency // workers), requests_per_minute=rate)


class Breaker:
    """Opens after so many prompts in a row to which the host gave no answer; then prompts fail at once."""

    def __init__(self, prompts: int) -> None:
        self._limit = prompts
        self._misses = 0
        self._opened_at = 0.0
        self.last_fault = self.last_cause = ""

    def refuses(self) -> bool:
        """Return True if a prompt is not to be asked now.

        After a pause, one prompt at a time is let through.
        """
        if not self._limit or self._misses < self._limit:
            return False
        now = time.monotonic()
        if now - self._opened_at < BREAKER_REST_S:
            return True
        # The pause begins anew, so that other prompts wait for the result of this one.
        self._opened_at = now
        return False

    def miss(self, fault: str, cause: str = "") -> None:
        self._misses += 1
        self.last_fault, self.last_cause = fault, cause
        # Not at later misses: `refuses` sets the time whenever it lets a prompt through.
        if self._misses == self._limit:
            self._opened_at = time.monotonic()

    def reset(self) -> None:
        self._misses = 0

    @property
    def misses(self) -> int:
        return self._misses


@dataclass(slots=True)
class RunningSummary:
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


class AnswerFigures(Struct):
    """Statistics of answers.

    Attributes:
        durations: seconds until an answer was complete.
        first_tokens: seconds until the first part of a streamed answer.
        usage: tokens by kind, added up.
    """

    durations: RunningSummary = field(default_factory=RunningSummary)
    first_tokens: RunningSummary = field(default_factory=RunningSummary)
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
