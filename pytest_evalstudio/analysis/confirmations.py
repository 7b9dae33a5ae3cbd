"""Regressions that were asked again: how many were confirmed, and which were not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.stats.confirmation import FAMILY_LEVEL
from pytest_evalstudio.text.figures import counted, percent

MAX_LISTED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconfirmedCase:
    """A case that failed once, and passes as a flaky one.

    Attributes:
        question: excerpt of the question.
        passed, failed: repeats.
    """

    nodeid: str
    question: str
    passed: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmations:
    """Confirmation of the regressions of a run.

    Attributes:
        confirmed: regressions that the sequential test confirmed.
        interrupted: regressions whose test did not come to its end.
        not_confirmed: regressions that were not confirmed.
        cases: cases that are compared, by which the level of the test follows.
        has_level: whether the baseline has repeats of all of them, so that their test has a level.
        listed: the first of those that were not confirmed.
    """

    confirmed: int = 0
    interrupted: int = 0
    not_confirmed: int = 0
    cases: int = 0
    has_level: bool = False
    listed: tuple[UnconfirmedCase, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the counts in one sentence, "" where nothing was asked again."""
        total = self.confirmed + self.interrupted + self.not_confirmed
        if not total:
            return ""
        counts = [f"{self.confirmed:,} confirmed", f"{self.not_confirmed:,} not confirmed (flaky)"]
        counts += [f"{self.interrupted:,} not decided"] if self.interrupted else []
        failures = counted(total, "case that failed was", "cases that failed were")
        rate = (
            f"at most {percent(FAMILY_LEVEL)} of unchanged pairs of runs have a confirmed regression"
            if self.has_level
            else "how often chance confirms is not known, since the baseline has one answer of each case"
        )
        return f"{failures} asked again: {', '.join(counts)}; {rate}."

    @property
    def brief(self) -> str:
        """Return the counts in a few words, "" where nothing was asked again."""
        total = self.confirmed + self.interrupted + self.not_confirmed
        if not total:
            return ""
        flaky = f", {self.not_confirmed:,} flaky" if self.not_confirmed else ""
        return f"Asked again: {self.confirmed:,} of {total:,} confirmed{flaky}."

    def lines(self, limit: int) -> Iterator[str]:
        """Yield a line per case that was not confirmed.

        Args:
            limit: largest number of lines; the rest is counted.
        """
        for case in self.listed[:limit]:
            yield f"{case.nodeid}: {case.failed} of {case.passed + case.failed} repeats fail"
        if self.not_confirmed > limit:
            yield f"and {self.not_confirmed - limit:,} more"


NO_CONFIRMATIONS = Confirmations()


class ConfirmationCounter:
    """Counts the confirmations of a run, item by item."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._listed: list[UnconfirmedCase] = []
        self._cases = 0
        self._has_level = True

    def add(self, item: Item, question: str) -> None:
        """Take one item.

        Args:
            item: of the record.
            question: excerpt of its question.
        """
        confirmation = item.confirmation
        if confirmation is None:
            return
        self._counts[confirmation.code] += 1
        self._cases = max(self._cases, confirmation.cases)
        self._has_level &= confirmation.baseline_runs > 0
        if confirmation.code == "not_confirmed" and len(self._listed) < MAX_LISTED:
            self._listed.append(
                UnconfirmedCase(
                    nodeid=item.nodeid,
                    question=question,
                    passed=confirmation.passed,
                    failed=confirmation.failed,
                )
            )

    def result(self) -> Confirmations:
        """Return the counts."""
        return Confirmations(
            confirmed=self._counts["confirmed"],
            interrupted=self._counts["interrupted"],
            not_confirmed=self._counts["not_confirmed"],
            cases=self._cases,
            has_level=self._has_level and self._cases > 0,
            listed=tuple(self._listed),
        )
