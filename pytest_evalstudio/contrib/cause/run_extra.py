"""Causes of all regressed cases of a run: counts, and the order in which to mend them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.analysis.gates import TermValue
from pytest_evalstudio.analysis.summary.models import ModelSummary
from pytest_evalstudio.core.markdown import escaped
from pytest_evalstudio.record.causes import CauseCode, CauseEntry, CausePart
from pytest_evalstudio.record.schema import Run
from pytest_evalstudio.text.figures import counted

LINES = 5
"""Causes that the end of a run shows."""
CASES_SHOWN = 20
WITHOUT_PART = (CauseCode.NOISE, CauseCode.NOT_FOUND, CauseCode.NOT_TESTED)
"""Codes of cases that no part of the application mends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """Cases with one cause.

    Attributes:
        label: of the cause.
        entries: of the cases by node id.
    """

    label: str
    code: CauseCode
    entries: tuple[tuple[str, CauseEntry], ...]

    @property
    def total(self) -> int:
        """Return the number of cases."""
        return len(self.entries)

    @property
    def example(self) -> str:
        """Return the sentence of the first case."""
        return self.entries[0][1].text


@dataclass(frozen=True, slots=True, kw_only=True)
class FixStep:
    """A part to mend.

    Attributes:
        part: of the application.
        mends: cases that pass once it and the parts before it are as in the baseline.
    """

    part: CausePart
    mends: int


@dataclass(frozen=True, slots=True)
class CauseExtra:
    """Causes of a run; a `analysis.summary.extras.RunExtra`."""

    causes: Mapping[str, CauseEntry]
    title: str = "causes of regressions"

    @property
    def rows(self) -> list[CauseRow]:
        """Return the causes, those of most cases first; what is no part comes last."""
        groups: dict[tuple[CauseCode, str], list[tuple[str, CauseEntry]]] = {}
        for nodeid, entry in self.causes.items():
            groups.setdefault((entry.code, label_of(entry)), []).append((nodeid, entry))
        rows = [
            CauseRow(label=label, code=code, entries=tuple(entries))
            for (code, label), entries in groups.items()
        ]
        return sorted(rows, key=lambda row: (row.code in WITHOUT_PART, -row.total, row.label))

    @property
    def fixes(self) -> list[FixStep]:
        """Return the parts in the order that mends most cases soonest.

        A case with several needed parts is mended by the last of them, one with alternatives by the first.
        """
        open_cases = [entry for entry in self.causes.values() if entry.parts or entry.code is CauseCode.AGENT]
        needs = [(frozenset(_parts(entry)), entry.is_joint) for entry in open_cases]
        parts = list(dict.fromkeys(part for need, _ in needs for part in need))
        mended: set[CausePart] = set()
        steps: list[FixStep] = []
        while len(mended) < len(parts):
            best = max(
                (part for part in parts if part not in mended),
                key=lambda part: (_passing(needs, mended | {part}), _share(needs, part), str(part)),
            )
            gain = _passing(needs, mended | {best}) - _passing(needs, mended)
            mended.add(best)
            if gain:
                steps.append(FixStep(part=best, mends=gain))
        return steps

    @property
    def calls(self) -> int:
        """Return the calls that the search took."""
        return sum(entry.calls for entry in self.causes.values())

    def term_values(self) -> Mapping[str, TermValue]:
        """Return nothing: causes are no terms of gates."""
        return {}

    def leader_sentences(self, models: Sequence[ModelSummary]) -> Sequence[str] | None:
        """Return None: causes do not rank models."""
        return None

    def closing_lines(self) -> Iterator[str]:
        """Yield the causes for the end of a run."""
        rows = self.rows
        counts = ", ".join(f"{row.total} {row.label}" for row in rows[:LINES])
        more = f", and {counted(len(rows) - LINES, 'more cause')}" if len(rows) > LINES else ""
        yield f"causes: {counts}{more} ({counted(self.calls, 'call')})"
        for row in rows[:LINES]:
            yield f"  {row.total}  {row.example}"
        if fixes := self.fixes:
            share = f"{fixes[0].mends} of {counted(len(self.causes), 'case')}"
            yield f"  fix first: {fixes[0].part}, which mends {share}"

    def lines(self) -> Iterator[str]:
        """Yield the cause of each case for a terminal."""
        for nodeid, entry in list(self.causes.items())[:CASES_SHOWN]:
            yield f"{nodeid}: {entry.text}"
            yield from (f"    {detail}" for detail in entry.details)
        if len(self.causes) > CASES_SHOWN:
            yield f"... and {counted(len(self.causes) - CASES_SHOWN, 'more case')} in the report"

    def markdown(self) -> str:
        """Return the causes as Markdown."""
        lines = ["## Causes of regressions", "", "| Cause | Cases | Example |", "| --- | ---: | --- |"]
        lines += [f"| {escaped(row.label)} | {row.total} | {escaped(row.example)} |" for row in self.rows]
        if fixes := self.fixes:
            order = "; ".join(f"{escaped(str(step.part))} ({step.mends})" for step in fixes)
            lines += ["", f"Fix first (cases that it mends): {order}."]
        lines += ["", *(f"- {escaped(nodeid)}: {escaped(entry.text)}" for nodeid, entry in self._shown())]
        return "\n".join(lines)

    def _shown(self) -> list[tuple[str, CauseEntry]]:
        return list(self.causes.items())[:CASES_SHOWN]


def _parts(entry: CauseEntry) -> tuple[CausePart, ...]:
    return entry.parts or (CausePart(kind=entry.code),)


def _passing(needs: Sequence[tuple[frozenset[CausePart], bool]], mended: set[CausePart]) -> int:
    return sum(need <= mended if is_joint else bool(need & mended) for need, is_joint in needs)


def _share(needs: Sequence[tuple[frozenset[CausePart], bool]], part: CausePart) -> int:
    return sum(part in need for need, _ in needs)


def label_of(entry: CauseEntry) -> str:
    """Return the name of a cause in tables: its parts, or what it is otherwise."""
    if entry.code is CauseCode.SEVERAL:
        return f"several ({(' and ' if entry.is_joint else ' or ').join(map(str, entry.parts))})"
    if entry.parts:
        return str(entry.parts[0])
    return entry.code.value.replace("_", " ")


def causes_of(run: Run) -> CauseExtra | None:
    """Return the causes of a run, None where none was looked for."""
    return CauseExtra(run.causes) if run.causes else None
