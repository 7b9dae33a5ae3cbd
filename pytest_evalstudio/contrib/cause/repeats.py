"""Tests of repeats: does a case fail as it is, and does it pass with parts of the baseline?

A host that is declared deterministic needs one answer. Any other is asked until the difference of passes and
failures decides, as in a sequential test of the pass rates 0.7 and 0.3, whose likelihood ratio depends on
this difference alone. A restoration that passes must also pass significantly more often than the case as it
is (Fisher's exact test, one-sided, Bonferroni over the candidates).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

LEVEL = 0.05
MAX_REPEATS = 30
"""Answers of one trial; a trial without a decision by then counts as failed."""
MIN_LEAD = 3
"""Difference of passes and failures that decides a trial: at a pass rate of 0.8, wrong in 1.5 %."""
MIN_AS_IS_LEAD = 4
"""The same for the case as it is, whose error would blame a part for noise: wrong in 0.4 %."""
MAX_AS_IS = 20
"""Answers of the case as it is that are asked for where a trial needs them for its comparison."""

MIN_SURE_LEAD = 6
"""The same for a second look: where several parts pass alone, or none does and all together do."""

Decision = Literal["passes", "fails", "undecided", "open"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Answers that passed and failed."""

    passed: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """Return the number of answers."""
        return self.passed + self.failed

    def plus(self, verdicts: list[bool]) -> Counts:
        """Return the counts with further answers."""
        passed = sum(verdicts)
        return Counts(self.passed + passed, self.failed + len(verdicts) - passed)


def as_is_decision(counts: Counts, *, deterministic: bool) -> Decision:
    """Return whether a case fails as it is.

    >>> as_is_decision(Counts(0, 4), deterministic=False), as_is_decision(Counts(3, 2), deterministic=False)
    ('fails', 'open')
    """
    if deterministic and counts.total:
        return "fails" if counts.failed else "passes"
    if counts.failed - counts.passed >= MIN_AS_IS_LEAD:
        return "fails"
    if counts.passed - counts.failed >= MIN_LEAD:
        return "passes"
    return "undecided" if counts.total >= MAX_REPEATS else "open"


def trial_decision(
    counts: Counts,
    as_is: Counts,
    level: float,
    *,
    deterministic: bool,
    pass_lead: int = MIN_LEAD,
    fail_lead: int = MIN_LEAD,
) -> Decision:
    """Return whether a case passes with parts of the baseline, and more often than as it is.

    Args:
        counts: of the answers with these parts.
        as_is: of the answers without them.
        level: of the comparison.
        pass_lead: difference of passes and failures by which it passes.
        fail_lead: difference of failures and passes by which it fails.

    >>> trial_decision(Counts(4, 0), Counts(0, 4), 0.05 / 3, deterministic=False)
    'passes'
    """
    if deterministic and counts.total:
        return "passes" if counts.passed else "fails"
    lead = counts.passed - counts.failed
    if lead >= pass_lead and more_often_p(counts, as_is) <= level:
        return "passes"
    if lead <= -fail_lead:
        return "fails"
    return "undecided" if counts.total >= MAX_REPEATS else "open"


def further(counts: Counts, lead: int, *, deterministic: bool) -> int:
    """Return how many further answers a decision needs at least, 1 or more.

    Args:
        counts: so far.
        lead: that decides.
    """
    if deterministic:
        return 1
    return max(1, min(lead - abs(counts.passed - counts.failed), MAX_REPEATS - counts.total))


def more_often_p(counts: Counts, as_is: Counts) -> float:
    """Return Fisher's one-sided p that the first sample passes no more often than the second.

    Source: Fisher, 1935.

    >>> round(more_often_p(Counts(4, 0), Counts(0, 4)), 4)
    0.0143
    """
    passed, total = counts.passed + as_is.passed, counts.total + as_is.total
    if not counts.total or not as_is.total:
        return 1.0
    ways = sum(
        math.comb(counts.total, count) * math.comb(as_is.total, passed - count)
        for count in range(counts.passed, min(counts.total, passed) + 1)
    )
    return ways / math.comb(total, passed)
