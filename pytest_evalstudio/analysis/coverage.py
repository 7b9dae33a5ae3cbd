"""Coverage of a run: test cases that nothing checked, expectations that nothing read, incomplete answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.codes import INCOMPLETE
from pytest_evalstudio.record.schema import Item, RecordRow
from pytest_evalstudio.text.figures import counted


class Coverage(Struct, frozen=True, kw_only=True):
    """Checks that the test cases of a run had.

    Attributes:
        unchecked: test cases for which nothing checked that the answer is right.
        unchecked_verdicts: number of these by verdict.
        example: node id of the first of them, "" without any.
        unread: key of an expectation to the number of test cases that state it and in which no evaluator
            compared the answer with it.
    """

    unchecked: int = 0
    unchecked_verdicts: Mapping[str, int] = NOTHING
    example: str = ""
    unread: Mapping[str, int] = NOTHING

    @property
    def skipped(self) -> int:
        """Return the number of unchecked test cases that were skipped."""
        return self.unchecked_verdicts.get("skipped", 0)

    @property
    def sentence(self) -> str:
        """Return unchecked test cases and unread expectations in words, "" without any."""
        unread = ", ".join(f"{name} {count:,}" for name, count in self.unread.items())
        if self.unchecked:
            expectations = f"; expectations that nothing read: {unread}" if unread else ""
            return f"{counted(self.unchecked, 'test case')}, e.g. {self.example}{expectations}"
        return f"expectations that nothing read: {unread}" if unread else ""


COMPLETE = Coverage()


class CoverageCounter:
    """Counts unchecked test cases and unread expectations, item by item."""

    def __init__(self) -> None:
        self._verdicts: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()
        self._example = ""

    def add(self, item: Item) -> None:
        """Take one finished item of the record."""
        if item.unread:
            self._unread.update(item.unread)
        if item.unchecked:
            self._verdicts[item.verdict] += 1
            self._example = self._example or item.nodeid

    def result(self) -> Coverage:
        """Return the counts."""
        return Coverage(
            unchecked=self._verdicts.total(),
            unchecked_verdicts=dict(self._verdicts),
            example=self._example,
            unread=dict(self._unread.most_common()),
        )


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
        reason = row.answer.finish_reason
        if reason in INCOMPLETE:
            self._reasons[reason] += 1
            self._example = self._example or nodeid

    def result(self) -> IncompleteAnswers:
        """Return the counts."""
        return IncompleteAnswers(reasons=dict(self._reasons), example=self._example)
