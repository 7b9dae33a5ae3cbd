"""Flips whose smallest edit was searched: the ends of the searches, and the edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.core.flips import SmallestEdit
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.core.flips import ShrinkCode

MAX_LISTED = 100


class ShrunkFlip(Struct, frozen=True, kw_only=True):
    """Flip whose smallest edit was searched.

    Attributes:
        nodeid: of the perturbed item.
        evaluator, metric: what flips.
        direction: "pass_to_fail" or "fail_to_pass".
    """

    nodeid: str
    evaluator: str
    metric: str
    direction: str
    smallest: SmallestEdit


class ShrunkFlips(Struct, frozen=True, kw_only=True):
    """Searches for the smallest edits of a run's flips.

    Attributes:
        calls: calls of models and judges that they took.
        ends: number of flips by the code of their end.
        listed: the first flips.
    """

    calls: int = 0
    ends: tuple[tuple[ShrinkCode, int], ...] = ()
    listed: tuple[ShrunkFlip, ...] = ()

    @property
    def total(self) -> int:
        """Return the number of flips."""
        return sum(count for _, count in self.ends)

    @property
    def sentence(self) -> str:
        """Return the counts in one sentence, "" where no flip was shrunk."""
        if not self.total:
            return ""
        from pytest_evalstudio.record.smallest import END_WORDS

        ends = ", ".join(f"{count:,} {END_WORDS[code]}" for code, count in self.ends)
        return f"smallest edits of {counted(self.total, 'flip')} with {counted(self.calls, 'call')}: {ends}"

    def lines(self, limit: int) -> Iterator[str]:
        """Yield a line per flip; flips of one case with the same edit share it.

        Args:
            limit: largest number of lines; the rest is counted.
        """
        from pytest_evalstudio.record.smallest import describe, equal_edits

        by_case: dict[str, list[ShrunkFlip]] = {}
        for flip in self.listed:
            by_case.setdefault(flip.nodeid, []).append(flip)
        shown = 0
        for nodeid, flips in by_case.items():
            # By identity: edits of two evaluators may be equal, and would share one entry.
            evaluators = {id(flip.smallest): flip.evaluator for flip in flips}
            for edits in equal_edits(flip.smallest for flip in flips):
                if limit == 0:
                    break
                limit -= 1
                shown += len(edits)
                names = dict.fromkeys(evaluators[id(edit)] for edit in edits)
                yield f"{nodeid.rpartition('::')[2]} {', '.join(names)}: {describe(edits)}"
        if self.total > shown:
            yield f"and {self.total - shown:,} more"


NO_SHRUNK_FLIPS = ShrunkFlips()


class ShrunkFlipCounter:
    """Collects the shrunk flips of a run, item by item."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._calls = 0
        self._listed: list[ShrunkFlip] = []

    def add(self, item: Item) -> None:
        """Take one item."""
        for flip in item.flips:
            if flip.smallest is None:
                continue
            self._counts[flip.smallest.code] += 1
            self._calls += flip.smallest.calls
            if len(self._listed) < MAX_LISTED:
                self._listed.append(
                    ShrunkFlip(
                        nodeid=item.nodeid,
                        evaluator=flip.evaluator,
                        metric=flip.metric,
                        direction=flip.direction,
                        smallest=flip.smallest,
                    )
                )

    def result(self) -> ShrunkFlips:
        """Return the counts."""
        if not self._counts:
            return NO_SHRUNK_FLIPS
        from pytest_evalstudio.core.flips import ShrinkCode  # most runs shrink no flip

        ends = tuple((code, self._counts[code]) for code in ShrinkCode if self._counts[code])
        return ShrunkFlips(calls=self._calls, ends=ends, listed=tuple(self._listed))
