"""Types of the comparison between the open and the hidden half of a suite, in a run's record."""

from __future__ import annotations

import enum

from msgspec import Struct


class GapCode(enum.StrEnum):
    """Verdict on the gap between the halves.

    Attributes:
        FITTED: the open half passes more often, by more than the tolerance: the interval lies above it.
        CLOSE: it does not: the interval lies below the tolerance, or ends at it.
        UNDECIDED: the interval contains the tolerance.
    """

    FITTED = "fitted"
    CLOSE = "close"
    UNDECIDED = "undecided"


class HalfCounts(Struct, frozen=True, kw_only=True):
    """Cases of one half.

    Attributes:
        passed: cases that every model passes.
        total: all cases; errors count as failures.
    """

    passed: int
    total: int

    @property
    def rate(self) -> float:
        """Return the share of the cases that pass."""
        return self.passed / self.total


class HoldoutEntry(Struct, frozen=True, kw_only=True):
    """Gap between the halves of one suite.

    Attributes:
        look: number of the look, from 1.
        open, hidden: counts of the halves.
        low, high: 95 % interval of the pass rate of the open half less that of the hidden half.
        tolerance: gap that is not counted as fitting.
    """

    look: int
    open: HalfCounts
    hidden: HalfCounts
    low: float
    high: float
    tolerance: float

    @property
    def gap(self) -> float:
        """Return the pass rate of the open half less that of the hidden half."""
        return self.open.rate - self.hidden.rate

    @property
    def code(self) -> GapCode:
        """Return the verdict."""
        return gap_code(self.low, self.high, self.tolerance)

    @property
    def sentence(self) -> str:
        """Return counts, gap and verdict in one line."""
        return gap_sentence(self.open.rate, self.hidden.rate, self.low, self.high, self.code)


_SENTENCES = {
    GapCode.FITTED: "the suite was fitted",
    GapCode.CLOSE: "no more than the tolerance",
    GapCode.UNDECIDED: "chance explains it, too",
}


def gap_code(low: float, high: float, tolerance: float) -> GapCode:
    """Return the verdict on an interval of the gap."""
    if low > tolerance:
        return GapCode.FITTED
    return GapCode.CLOSE if high <= tolerance else GapCode.UNDECIDED


def gap_sentence(open_rate: float, hidden_rate: float, low: float, high: float, code: GapCode) -> str:
    """Return a gap in one line.

    >>> gap_sentence(0.96, 0.71, 0.14, 0.36, GapCode.FITTED)
    'open 96 %, hidden 71 %, gap +25 points [+14, +36]: the suite was fitted'
    """
    gap = open_rate - hidden_rate
    points = f"gap {_points(gap)} points [{_points(low)}, {_points(high)}]"
    return f"open {open_rate:.0%}, hidden {hidden_rate:.0%}, {points}: {_SENTENCES[code]}".replace("%", " %")


def _points(share: float) -> str:
    return f"{round(share * 100):+d}"
