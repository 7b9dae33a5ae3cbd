"""Traced answers in a run: how many lack spans of the application."""

from __future__ import annotations

from msgspec import Struct


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
