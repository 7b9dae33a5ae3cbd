"""Search for the smallest edit of one flip, question by question."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_evalstudio.core.flips import ShrinkCode
from pytest_evalstudio.scoring.shrinking.delta import ddmin
from pytest_evalstudio.text.edits import Edit, applied, changes_between

FIRST_REPETITION, LAST_REPETITION = "shrink 1", "shrink 2"
"""Samples of questions that are asked again, before the search and after it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Question to be asked: does the verdict on it flip?

    Attributes:
        text: the question.
        sample: "" where an answer of this run to the same question serves, else the name of a sample of its
            own.
    """

    text: str
    sample: str = ""


Probes = Generator[Probe, bool, T]


class FlipSearch:
    """Delta debugging of a perturbed question: first over its changed words, then over their characters.

    Args:
        original: question without the perturbation; its verdict does not flip.
        perturbed: another question; its verdict flips.
        is_repeatable: whether the model answers each question as it did in this run. If not, both questions
            are asked again before the search, and the result once more after it.

    Attributes:
        total: number of edits between the two questions.
        smallest: edits of the smallest question so far that flips.
    """

    def __init__(self, original: str, perturbed: str, *, is_repeatable: bool) -> None:
        self.original = original
        self.perturbed = perturbed
        self._is_repeatable = is_repeatable
        self._changes = changes_between(original, perturbed)
        self.smallest: Sequence[Edit] = [edit for change in self._changes for edit in change]
        self.total = len(self.smallest)

    @property
    def question(self) -> str:
        """Return the smallest question so far that flips."""
        return applied(self.original, self.smallest)

    def probes(self) -> Probes[ShrinkCode]:
        """Yield the questions of the search; the caller sends whether each of them flips.

        Returns:
            The end of the search.
        """
        if not self._is_repeatable:
            if (yield Probe(text=self.original, sample=FIRST_REPETITION)):
                return ShrinkCode.NOT_REPRODUCED
            if not (yield Probe(text=self.perturbed, sample=FIRST_REPETITION)):
                return ShrinkCode.NOT_REPRODUCED
        changes = yield from self._minimal(self._changes, lambda change: change)
        yield from self._minimal([edit for change in changes for edit in change], lambda edit: (edit,))
        if self._is_repeatable or len(self.smallest) == self.total:
            return ShrinkCode.MINIMAL
        is_confirmed = yield Probe(text=self.question, sample=LAST_REPETITION)
        return ShrinkCode.MINIMAL if is_confirmed else ShrinkCode.NOT_CONFIRMED

    def _minimal(self, units: Sequence[T], edits_of: Callable[[T], Iterable[Edit]]) -> Probes[tuple[T, ...]]:
        """Yield the questions of one level, and return its minimal units."""
        parts = ddmin(units)
        try:
            part = next(parts)
            while True:
                edits = [edit for unit in part for edit in edits_of(unit)]
                flips = yield Probe(text=applied(self.original, edits))
                if flips:
                    self.smallest = edits
                part = parts.send(flips)
        except StopIteration as end:
            minimal: tuple[T, ...] = end.value
            return minimal
