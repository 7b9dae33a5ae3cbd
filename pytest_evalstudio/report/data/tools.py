"""Tools by models: how often each model calls a tool, and what is wrong with the calls."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from pytest_evalstudio.record.schema import EvaluatorEntry, Item
from pytest_evalstudio.report.data.columns import Integers
from pytest_evalstudio.report.data.trajectories import Trajectory

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.call_lines import LineState

TOOLS = 60
"""Tools that the page lists; a hostile record may name thousands."""
MAX_NAMES = 2_000
"""Distinct names that are counted; each takes a few bytes per item."""
CALL_BITS: Mapping[str, int] = {
    "called": 1,
    "missing": 2,
    "wrong_arguments": 4,
    "unexpected": 8,
    "forbidden": 16,
    "failed": 32,
}
"""Bits of an item and a tool, for the filter of the matrix."""
_OF_LINES: Mapping[LineState, str] = {
    "missing": "missing",
    "wrong_arguments": "wrong_arguments",
    "out_of_order": "unexpected",
    "unexpected": "unexpected",
}


class ToolCounts(Struct):
    """Calls of a tool by a model.

    Attributes:
        cases: items with a call.
        calls: calls, those of all repeats.
        faults: calls, or missing calls, by the name of what is wrong, a key of `CALL_BITS`.
    """

    cases: int = 0
    calls: int = 0
    faults: Counter[str] = field(default_factory=Counter)


class _Tool(Struct):
    models: dict[str, ToolCounts] = field(default_factory=dict)
    items: array[int] = field(default_factory=lambda: array("L"))
    bits: array[int] = field(default_factory=lambda: array("B"))


class ToolTable:
    """Counts the calls of tools by model while items go by.

    Attributes:
        cases: items of each model.
        other_names: names that came when `MAX_NAMES` were known already.
    """

    def __init__(self, evaluators: Mapping[str, EvaluatorEntry]) -> None:
        self.cases: Counter[str] = Counter()
        self.other_names = 0
        self._tools: dict[str, _Tool] = {}
        self._of_arguments = {id for id, info in evaluators.items() if info.type == "tool_arguments"}

    def add(self, item: Item, position: int, trajectories: Sequence[Sequence[Trajectory]]) -> None:
        """Take one item.

        Args:
            position: index of the item in the record.
            trajectories: of each row, one for each of its turns.
        """
        self.cases[item.model_key] += 1
        marks: Counter[tuple[str, str]] = Counter()
        for trajectory in (each for turns in trajectories for each in turns):
            calls = () if trajectory.is_whole else trajectory.answer.tool_calls
            for name, count in Counter([call.name for call in calls]).items():
                marks[name, "called"] += count
            marks.update([(call.name, "failed") for call in calls if call.error])
            marks.update(self._marks(trajectory))
        bits: Counter[str] = Counter()
        for (name, mark), count in marks.items():
            tool = self._tool(name)
            if tool is None:
                continue
            counts = tool.models.setdefault(item.model_key, ToolCounts())
            if mark == "called":
                counts.cases += 1
                counts.calls += count
            else:
                counts.faults[mark] += count
            bits[name] |= CALL_BITS[mark]
        for name, value in bits.items():
            self._tools[name].items.append(position)
            self._tools[name].bits.append(value)

    def _tool(self, name: str) -> _Tool | None:
        if name not in self._tools and len(self._tools) >= MAX_NAMES:
            self.other_names += 1
            return None
        return self._tools.setdefault(name, _Tool())

    def _marks(self, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
        """Yield the tools with what was wrong in their calls."""
        calls, expected = trajectory.answer.tool_calls, trajectory.expected or ()
        wrong: set[int] = set()
        for line in trajectory.lines or ():
            if (mark := _OF_LINES.get(line.state)) is None:
                continue
            if line.actual is not None:
                wrong.add(line.actual)
                yield calls[line.actual].name, mark
            elif line.expected is not None:
                yield expected[line.expected].name, mark
        for index, texts in trajectory.flags.items():
            if index >= len(calls):
                continue
            ids = {id for id, _ in texts}
            if ids - self._of_arguments:
                yield calls[index].name, "forbidden"
            elif index not in wrong:
                yield calls[index].name, "wrong_arguments"

    @property
    def names(self) -> list[str]:
        """Return the tools that the page lists: those with faults first, then the most called ones."""

        def rank(name: str) -> tuple[int, int, str]:
            models = self._tools[name].models.values()
            faults = sum(counts.faults.total() for counts in models)
            return -faults, -sum(counts.calls for counts in models), name

        return sorted(self._tools, key=rank)[:TOOLS]

    @property
    def left_out(self) -> int:
        """Return the number of names that the page does not list."""
        return max(0, len(self._tools) - TOOLS) + self.other_names

    def counts(self, name: str, model: str) -> ToolCounts | None:
        """Return the calls of a tool by a model, None where it has nothing to do with the tool."""
        return self._tools[name].models.get(model)

    def columns(self, selected_rows: Integers, count: int) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the bits of each listed tool for the items of the page.

        Args:
            selected_rows: items of the page.
            count: number of all items.
        """
        for name in self.names:
            bits = np.zeros(count, dtype=np.uint8)
            bits[np.array(self._tools[name].items, dtype=np.int64)] = np.array(
                self._tools[name].bits, dtype=np.uint8
            )
            yield bits[selected_rows]
