"""Columns that are in the names of folders: `topic=fees/part-0.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import numpy as np

from pytest_evalstudio.contrib.tables.input.readers import Reader, Rows

# Hive's name of the folder of rows without a value.
_ABSENT = "__HIVE_DEFAULT_PARTITION__"


def is_partition(name: str) -> bool:
    """Return whether a folder is named by a column and its value.

    >>> is_partition("topic=fees"), is_partition("logs")
    (True, False)
    """
    column, sign, _ = name.partition("=")
    return bool(column and sign)


def partitions_of(path: str) -> dict[str, str | None]:
    """Return the columns that the folders of a path give; None for an absent value.

    >>> partitions_of("logs/topic=credit%20cards/day=1/part.parquet")
    {'topic': 'credit cards', 'day': '1'}
    """
    pairs = [name.partition("=") for name in path.split("/")[:-1] if is_partition(name)]
    return {unquote(column): None if value == _ABSENT else unquote(value) for column, _, value in pairs}


class PartitionReader:
    """Reads a file with the columns of its folders; a column of the file itself has priority.

    Args:
        reader: of the file.
        values: of the columns of its folders.
    """

    def __init__(self, reader: Reader, values: Mapping[str, str | None]) -> None:
        self._reader = reader
        self._values = {name: value for name, value in values.items() if name not in reader.columns()}
        self.rows = reader.rows

    def columns(self) -> dict[str, Any]:
        import pyarrow as pa

        return {**self._reader.columns(), **dict.fromkeys(self._values, pa.string())}

    def read(self, fields: dict[str, str], select: Rows | None) -> Iterator[tuple[Rows, dict[str, Any]]]:
        import pyarrow as pa

        in_file = {column: field for column, field in fields.items() if column not in self._values}
        for rows, columns in self._reader.read(in_file, select):
            constant = {
                name: pa.array(np.full(len(rows), value, dtype=object), pa.string())
                for name, value in self._values.items()
                if name in fields
            }
            yield rows, {**columns, **constant}
