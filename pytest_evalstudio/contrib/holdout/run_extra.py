"""Gap between the halves in a run's record, for its terminal, summary and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.analysis.gates import TermValue
from pytest_evalstudio.analysis.summary.models import ModelSummary
from pytest_evalstudio.core.markdown import escaped
from pytest_evalstudio.record.holdout import HoldoutEntry
from pytest_evalstudio.record.schema import Run


@dataclass(frozen=True, slots=True)
class HalvesExtra:
    """Halves of a run; a `analysis.summary.extras.RunExtra`."""

    entries: Mapping[str, HoldoutEntry]
    title: str = "open and hidden half"

    def term_values(self) -> Mapping[str, TermValue]:
        """Return nothing: the gap is no term of gates."""
        return {}

    def leader_sentences(self, models: Sequence[ModelSummary]) -> Sequence[str] | None:
        """Return None: the gap does not rank models."""
        return None

    def closing_lines(self) -> Iterator[str]:
        """Yield the gap for the end of a run."""
        yield from self.lines()

    def lines(self) -> Iterator[str]:
        """Yield the gap of each suite."""
        for path, entry in self.entries.items():
            yield f"{path}: {entry.sentence}"

    def markdown(self) -> str:
        """Return the gap as Markdown."""
        return "\n".join(["## Open and hidden half", "", *(f"- {escaped(line)}" for line in self.lines())])


def halves_of(run: Run) -> HalvesExtra | None:
    """Return the halves of a run, None for one without a hidden half."""
    return HalvesExtra(run.holdout) if run.holdout else None
