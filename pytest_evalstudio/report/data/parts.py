"""The columns of the data set: of which type, how many cases fill them, how many values are distinct."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence

import numpy as np
from msgspec import Struct

from pytest_evalstudio.record.schema import RecordRow

TEXTS = {"input": "question", "expected_output": "expected_output", "output_condition": "condition"}
"""Columns of texts, and the fields of a row that they show."""
LISTS = ("accepted_outputs", "corpus", "categories", "relationships")


class DataColumn(Struct, frozen=True):
    """Column of the data set.

    Attributes:
        filled: number of cases in which it is not empty.
        distinct: number of different values in these cases; for lists, of entries.
    """

    name: str
    type: str
    filled: int
    distinct: int


class PartAggregator:
    """Takes distinct test cases; keeps a hash of each value, eight bytes, not the value."""

    def __init__(self) -> None:
        self._filled = dict.fromkeys(("key", *TEXTS, *LISTS), 0)
        self._hashes: dict[str, array[int]] = {name: array("q") for name in self._filled}

    def add(self, key: str, row: RecordRow | None) -> None:
        """Take one case.

        Args:
            row: the first of its rows, None where it was never asked.
        """
        self._note("key", [key])
        if row is None:
            return
        for name, field in TEXTS.items():
            if text := getattr(row, field):
                self._note(name, [text])
        for name in LISTS:
            if entries := getattr(row, name):
                self._note(name, entries)

    def parts(self) -> list[DataColumn]:
        """Return the columns that any case fills."""
        return [
            DataColumn(
                name,
                "list" if name in LISTS else "text",
                filled,
                _distinct(self._hashes[name]),
            )
            for name, filled in self._filled.items()
            if filled
        ]

    def _note(self, name: str, values: Sequence[Hashable]) -> None:
        self._filled[name] += 1
        self._hashes[name].extend(map(hash, values))


def _distinct(hashes: array[int]) -> int:
    """Return the number of different values; `numpy.unique` would import `numpy.ma`, which takes 10 ms."""
    ordered = np.sort(np.array(hashes))
    return int(np.count_nonzero(np.diff(ordered))) + 1 if ordered.size else 0
