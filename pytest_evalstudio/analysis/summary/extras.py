"""Results of optional parts, from the record of a run: for its gates, headline, terminal and page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.record.schema import Run

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.gates import TermValue
    from pytest_evalstudio.analysis.summary.models import ModelSummary


class RunExtra(Protocol):
    """Results of an optional part.

    Attributes:
        title: heading of its lines.
    """

    title: str

    def term_values(self) -> Mapping[str, TermValue]:
        """Return the values of its terms of gates, by term."""

    def leader_sentences(self, models: Sequence[ModelSummary]) -> Sequence[str] | None:
        """Return which models lead by its results; None where these do not rank models."""

    def closing_lines(self) -> Iterator[str]:
        """Yield what the end of every run shows of its results."""

    def lines(self) -> Iterator[str]:
        """Yield its results for a terminal."""

    def markdown(self) -> str:
        """Return its results as Markdown, headed at level 2."""


def extras_of(run: Run) -> tuple[RunExtra, ...]:
    """Return what the optional parts compute from a run; a part without results has none."""
    extras = []
    for contrib in contribs():
        # Most runs have no entries of a part, and its modules take time to import.
        if contrib.entries and getattr(run, contrib.entries, None):
            make: Callable[[Run], RunExtra | None] = loaded(contrib.extra)
            if (extra := make(run)) is not None:
                extras.append(extra)
    return tuple(extras)
