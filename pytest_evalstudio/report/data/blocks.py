"""The data blocks of a page: named stretches of base64 that its scripts unpack when they need them."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.analysis.summary.results import RunSummary
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.quick_json import written
from pytest_evalstudio.record.codec import portable
from pytest_evalstudio.record.schema import EvaluatorEntry, Item
from pytest_evalstudio.report.data.columns import Columns, Integers
from pytest_evalstudio.report.data.meta import describe
from pytest_evalstudio.report.data.texts import NOWHERE, TextStore, compressed
from pytest_evalstudio.report.data.tools import ToolTable
from pytest_evalstudio.report.data.trajectories import TrajectoryReader

if TYPE_CHECKING:
    from pytest_evalstudio.report.data.pictures import EmbeddedPictures

ROWS = 150_000
"""Items that a page lists at most; the others are in the files only."""

CASES_IN_BLOCK = 4_000


class Block(Struct, frozen=True):
    """Block of data in the page.

    Attributes:
        id: id of its element.
        data: base64, without characters that are special in HTML.
        media_type: of the data.
    """

    id: str
    data: str
    media_type: str = "application/gzip"


class PageData:
    """Gathers what the page's scripts need while items go by, and gives it as blocks at the end.

    Args:
        evaluators: of the run, whose options say which calls are judged.
        comparison: of the run with its baseline, None without one.
        rows: items that the page lists at most.
        root: folder where the paths of node ids start, for images of cases; None to show none.
    """

    def __init__(
        self,
        columns: Columns,
        texts: TextStore,
        evaluators: Mapping[str, EvaluatorEntry] = NOTHING,
        comparison: Comparison | None = None,
        rows: int = ROWS,
        *,
        root: Path | None = None,
    ) -> None:
        self._root = root
        self._pictures: EmbeddedPictures | None = None
        self.columns = columns
        self.tools = ToolTable(evaluators)
        self._trajectories = TrajectoryReader(evaluators)
        self._changes = {
            change.nodeid: change
            for change in (comparison.changes if comparison else ())
            if change.base_calls or change.calls
        }
        self._texts = texts
        self._rows = rows
        self._text_places = array("L")
        self._context_places = array("L")

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        position = len(self.columns)
        self.columns.add(item)
        notable = self.columns.notable(position)
        trajectories = [self._trajectories.read(item, row) for row in item.rows]
        self.tools.add(item, position, trajectories)
        texts = (
            self._texts.add(
                item, notable=notable, trajectories=trajectories, change=self._changes.get(item.nodeid)
            )
            if notable or position < self._rows
            else (NOWHERE, NOWHERE)
        )
        if texts[0] != NOWHERE and self._root is not None and _has_attachments(item):
            self._picture_store(self._root).add(item)
        self._text_places.append(texts[0])
        self._context_places.append(texts[1])

    def _picture_store(self, root: Path) -> EmbeddedPictures:
        from pytest_evalstudio.report.data.pictures import EmbeddedPictures  # most runs have no image

        if self._pictures is None:
            self._pictures = EmbeddedPictures(root)
        return self._pictures

    def blocks(self, analysis: Analysis, summary: RunSummary) -> Iterator[Block]:
        """Yield all blocks, those needed first in front."""
        selected_rows = self.columns.selection(self._rows)
        description = {**describe(analysis, summary, self.columns, selected_rows), "tools": self.tools.names}
        yield _json("meta", portable(description))
        yield from self._cases(selected_rows)
        yield _binary("rows", *self._row_columns(selected_rows))
        for number, id in enumerate(self.columns.judgements):
            yield self._scores(number, id, selected_rows)
        if self.tools.names:
            yield _binary("tools", *self.tools.columns(selected_rows, len(self.columns)))
        for number, data in self._texts.blocks():
            yield Block(f"texts-{number}", _letters(data))
        for picture in self._pictures or ():
            yield Block(f"picture-{picture.sha256}", picture.data, picture.media_type)

    def _row_columns(self, selected_rows: Integers) -> list[npt.NDArray[np.generic]]:
        """Return the columns, widest numbers first, so that each starts at an aligned offset."""
        columns = self.columns
        return [
            columns.case_numbers[selected_rows].astype("<u4"),
            *(
                np.array(positions, dtype="<u4")[selected_rows]
                for positions in (self._text_places, self._context_places)
            ),
            columns.model_numbers[selected_rows].astype("<u2"),
            columns.verdicts[selected_rows],
            columns.flags[selected_rows],
        ]

    def _cases(self, selected_rows: Integers) -> Iterator[Block]:
        """Yield keys, files, questions, categories and originals of the cases, in slices.

        The node ids that cannot be derived follow.
        """
        categories = sorted({name for case in self.columns.cases for name in case.categories})
        numbers = {name: number for number, name in enumerate(categories)}
        cases = self.columns.cases
        slices = range(0, len(cases), CASES_IN_BLOCK)
        for number, start in enumerate(slices):
            lines = [
                [case.key, case.file, case.question, [numbers[name] for name in case.categories], case.source]
                for case in cases[start : start + CASES_IN_BLOCK]
            ]
            yield _json(f"cases-{number}", lines)
        row_of = {int(position): row for row, position in enumerate(selected_rows)}
        nodeids = {
            str(row_of[position]): nodeid
            for position, nodeid in self.columns.nodeids.items()
            if position in row_of
        }
        yield _json("names", {"slices": len(slices), "categories": categories, "nodeids": nodeids})

    def _scores(self, number: int, id: str, selected_rows: Integers) -> Block:
        """Return the block of one evaluator: scores as 32-bit floats, thresholds of items, states.

        A missing score is NaN.
        """
        judgements = self.columns.judgements[id]
        where = np.full(len(self.columns), -1, dtype=np.int64)
        where[np.array(judgements.items, dtype=np.int64)] = np.arange(len(judgements.items))
        rows = where[selected_rows]
        mask = rows >= 0
        states = np.zeros(len(selected_rows), dtype=np.uint8)
        states[mask] = np.array(judgements.states, dtype=np.uint8)[rows[mask]]
        limits = np.zeros(len(selected_rows), dtype="<u2")
        limits[mask] = np.array(judgements.limits, dtype="<u2")[rows[mask]]
        scores = []
        for column in judgements.scores:
            values = np.full(len(selected_rows), np.nan, dtype="<f4")
            with np.errstate(over="ignore"):  # a score beyond the range of 32 bits becomes infinite
                values[mask] = np.array(column, dtype=np.float64)[rows[mask]]
            scores.append(values)
        return _binary(f"scores-{number}", *scores, limits, states)


def _has_attachments(item: Item) -> bool:
    return any(row.attachments or any(turn.attachments for turn in row.answer.turns) for row in item.rows)


def _json(id: str, value: object) -> Block:
    return Block(id, _letters(compressed(written(value))))


def _binary(id: str, *columns: npt.NDArray[np.generic]) -> Block:
    return Block(id, _letters(compressed(b"".join(column.tobytes() for column in columns))))


def _letters(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
