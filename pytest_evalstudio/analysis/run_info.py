"""Types of a run: its evaluators and models as the header describes them, its stored and traced answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from pytest_evalstudio.record.schema import StepEntry


class TracedAnswers(Struct, frozen=True, kw_only=True):
    """Answers for which spans of the application were awaited.

    Attributes:
        total: number of these answers.
        missing: answers without any span.
        incomplete: answers some of whose spans had not arrived when the wait ended.
    """

    total: int = 0
    missing: int = 0
    incomplete: int = 0

    @property
    def sentence(self) -> str:
        """Return what is missing, "" if nothing is.

        >>> TracedAnswers(total=5, missing=2).sentence
        'none arrived for 2 of 5 answers'
        """
        of_total = f"of {self.total:,} answers"
        facts = [f"none arrived for {self.missing:,} {of_total}"] if self.missing else []
        if self.incomplete:
            verb = "lacks" if self.incomplete == 1 else "lack"
            facts.append(
                f"{self.incomplete:,} {of_total} {verb} spans that had not arrived when the wait ended"
            )
        return "; ".join(facts)


NO_TRACED_ANSWERS = TracedAnswers()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """Answers that an earlier run stored.

    Attributes:
        count: number of stored answers.
        total: number of all answers.
        first, last: earliest and latest time at which one was stored, ISO 8601 in UTC; "" without any.
        continues: start of the interrupted run that was continued, ISO 8601 in UTC; "" for none.
    """

    count: int = 0
    total: int = 0
    first: str = ""
    last: str = ""
    continues: str = ""

    @property
    def sentence(self) -> str:
        """Return the fact in one sentence, "" where all answers are of this run.

        >>> StoredAnswers(count=2, total=5, first="2026-11-23T12:03:00+00:00", last="2026-11-23T12:03:59+00:00").sentence
        '2 of 5 answers are stored answers of an earlier run (2026-11-23 12:03 UTC); the model was not asked again.'
        """  # noqa: E501
        if not self.count:
            return ""
        first, last = _minute(self.first), _minute(self.last)
        period = f"{first} UTC" if first == last else f"{first} to {last} UTC"
        origin = "of the interrupted run that this one continues" if self.continues else "of an earlier run"
        verb = "is a stored answer" if self.count == 1 else "are stored answers"
        count = f"{self.count:,} of {self.total:,} answers"
        return f"{count} {verb} {origin} ({period}); the model was not asked again."


NO_STORED_ANSWERS = StoredAnswers()


def stored_steps_sentence(steps: Iterable[StepEntry], created: str) -> str:
    """Return which steps of a workflow have answers of an earlier run, "" for none.

    Args:
        steps: of the workflow.
        created: start of this run, ISO 8601 with time zone.
    """
    start = datetime.fromisoformat(created).replace(microsecond=0)
    stored = [
        step
        for step in sorted(steps, key=lambda step: step.number)
        if step.asks
        and step.status == "completed"
        and datetime.fromisoformat(step.finished or created) < start
    ]
    if not stored:
        return ""
    times = sorted({_minute(step.finished) for step in stored})
    period = times[0] if len(times) == 1 else f"{times[0]} to {times[-1]}"
    names = ", ".join(step.step for step in stored)
    return (
        f"{names}: results of an earlier run ({period} UTC); the model was not asked again. After a change of"
        f" the application: --evalstudio-from {stored[0].step}"
    )


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
