"""Answers of a run that were cut or filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.figures import counted
from pytest_evalstudio.core.finish_reasons import INCOMPLETE, is_incomplete, reason_in
from pytest_evalstudio.record.schema import RecordRow


class IncompleteAnswers(Struct, frozen=True, kw_only=True):
    """Number of answers that are not complete.

    Attributes:
        reasons: reason, "length" or "content_filter", to the number of answers; a conversation counts once.
        example: node id of the first item with one, "" without any.
    """

    reasons: Mapping[str, int] = NOTHING
    example: str = ""

    @property
    def count(self) -> int:
        """Return the number of all of them."""
        return sum(self.reasons.values())

    @property
    def sentence(self) -> str:
        """Return the numbers in words, "" without any."""
        parts = [
            f"{counted(self.reasons[reason], 'answer')} {words}"
            for reason, words in INCOMPLETE.items()
            if reason in self.reasons
        ]
        return f"{', '.join(parts)}, e.g. {self.example}" if parts else ""


NO_INCOMPLETE_ANSWERS = IncompleteAnswers()


class IncompleteCounter:
    """Counts incomplete answers, row by row."""

    def __init__(self) -> None:
        self._reasons: Counter[str] = Counter()
        self._example = ""

    def add(self, nodeid: str, row: RecordRow) -> None:
        """Take an answer of an item."""
        reason = reason_in(row.finish_reason, row.usage)
        if is_incomplete(reason):
            self._reasons[reason] += 1
            self._example = self._example or nodeid

    def result(self) -> IncompleteAnswers:
        """Return the counts."""
        return IncompleteAnswers(reasons=dict(self._reasons), example=self._example)
