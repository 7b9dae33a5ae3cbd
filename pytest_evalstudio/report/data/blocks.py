"""The data blocks of a page: named stretches of base64 that its scripts unpack when they need them."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.engine.quick_json import written
from pytest_evalstudio.record.codec import portable
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.report.data.columns import Columns, Integers
from pytest_evalstudio.report.data.meta import describe
from pytest_evalstudio.report.data.texts import NOWHERE, TextStore, compressed

ROWS = 150_000
"""Items that a page lists at most; the others are in the files only."""

CASES_IN_BLOCK = 4_000


@dataclass(frozen=True, slots=True)
class Block:
    """Block of data in the page.

    Attributes:
        id: id of its element.
        data: base64 of gzip, without characters that are special in HTML.
    """

    id: str
    data: str


class PageData:
    """Gathers what the page's scripts need while items go by, and gives it as blocks at the end.

    Args:
        rows: items that the page lists at most.
    """

    def __init__(self, columns: Columns, texts: TextStore, rows: int = ROWS) -> None:
        self.columns = columns
        self._texts = texts
        self._rows = rows
        self._text_places = array("L")
        self._context_places = array("L")

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        place = len(self.columns)
        self.columns.add(item)
        notable = self.columns.notable(place)
        texts = (
            self._texts.add(item, notable=notable) if notable or place < self._rows else (NOWHERE, NOWHERE)
        )
        self._text_places.append(texts[0])
        self._context_places.append(texts[1])

    def blocks(self, analysis: Analysis) -> Iterator[Block]:
        """Yield all blocks, those needed first in front."""
        chosen = self.columns.selection(self._rows)
        yield _json("meta", portable(describe(analysis, self.columns, shown=len(chosen))))
        yield from self._cases(chosen)
        yield _binary("rows", *self._row_columns(chosen))
        for number, id in enumerate(self.columns.judgements):
            yield self._scores(number, id, chosen)
        for number, data in self._texts.blocks():
            yield Block(f"texts-{number}", _letters(data))

    def _row_columns(self, chosen: Integers) -> list[npt.NDArray[np.generic]]:
        """Return the columns, widest numbers first, so that each starts at an aligned offset."""
        columns = self.columns
        return [
            columns.case_numbers[chosen].astype("<u4"),
            *(np.array(places, dtype="<u4")[chosen] for places in (self._text_places, self._context_places)),
            columns.model_numbers[chosen].astype("<u2"),
            columns.verdicts[chosen],
            columns.flags[chosen],
        ]

    def _cases(self, chosen: Integers) -> Iterator[Block]:
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
        places = {int(place): row for row, place in enumerate(chosen)}
        nodeids = {
            str(places[place]): nodeid for place, nodeid in self.columns.nodeids.items() if place in places
        }
        yield _json("names", {"slices": len(slices), "categories": categories, "nodeids": nodeids})

    def _scores(self, number: int, id: str, chosen: Integers) -> Block:
        """Return the block of one evaluator: scores as 32-bit floats, thresholds of items, states.

        A missing score is NaN.
        """
        judgements = self.columns.judgements[id]
        where = np.full(len(self.columns), -1, dtype=np.int64)
        where[np.array(judgements.items, dtype=np.int64)] = np.arange(len(judgements.items))
        rows = where[chosen]
        known = rows >= 0
        states = np.zeros(len(chosen), dtype=np.uint8)
        states[known] = np.array(judgements.states, dtype=np.uint8)[rows[known]]
        limits = np.zeros(len(chosen), dtype="<u2")
        limits[known] = np.array(judgements.limits, dtype="<u2")[rows[known]]
        scores = []
        for column in judgements.scores:
            values = np.full(len(chosen), np.nan, dtype="<f4")
            with np.errstate(over="ignore"):
                values[known] = np.array(column, dtype=np.float64)[rows[known]]
            scores.append(values)
        return _binary(f"scores-{number}", *scores, limits, states)


def _json(id: str, value: object) -> Block:
    return Block(id, _letters(compressed(written(value))))


def _binary(id: str, *columns: npt.NDArray[np.generic]) -> Block:
    return Block(id, _letters(compressed(b"".join(column.tobytes() for column in columns))))


def _letters(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
