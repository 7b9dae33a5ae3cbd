"""Rows of all sources in batches of bounded size, with row ids and weights."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_evalstudio.contrib.tables.input.delta import active_files, is_delta_table
from pytest_evalstudio.contrib.tables.input.fields import Wanted, array_of, chunks_of
from pytest_evalstudio.contrib.tables.input.partitions import PartitionReader, is_partition, partitions_of
from pytest_evalstudio.contrib.tables.input.readers import ENDINGS, Reader, Rows, format_of, reader_of
from pytest_evalstudio.contrib.tables.table.storage import Location, reaching
from pytest_evalstudio.core.errors import DataError

DIGEST_BYTES = 64 << 10  # head and tail of a file of gigabytes: its size, schema and last rows
MAX_BATCH_BYTES = 64 << 20
"""A batch with more text is divided."""
GROUP = "group:"
"""Prefix of the kept columns in a batch."""


@dataclass(frozen=True, slots=True)
class TableSource:
    """A file with rows.

    Attributes:
        partitions: columns that the names of its folders give all of its rows; None where one is absent.
    """

    location: Location
    format: str
    partitions: Mapping[str, str | None] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.location.name

    def reader(self) -> Reader:
        """Open the file."""
        reader = reader_of(self.location, self.format)
        return PartitionReader(reader, self.partitions) if self.partitions else reader

    def fingerprint(self) -> str:
        """Return a digest of the file's size, beginning and end."""
        with reaching(self.name):
            fs, path = self.location.fs, self.location.path
            size = fs.info(path)["size"]
            digest = hashlib.sha256(str(size).encode())
            digest.update(fs.cat_file(path, start=0, end=min(size, DIGEST_BYTES)))
            digest.update(fs.cat_file(path, start=max(0, size - DIGEST_BYTES), end=size))
            if self.partitions:
                digest.update(repr(sorted(self.partitions.items())).encode())
        return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRows:
    """Rows of a sample.

    Attributes:
        rows: ordered row ids.
        strata: stratum of each.
        weights: of a row of each stratum: the number of rows that it stands for.
    """

    rows: NDArray[np.int64]
    strata: NDArray[np.int32]
    weights: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows that are scored together.

    Attributes:
        number: from 0, in the order of the sources.
        table: Arrow table with `row_id`, `source`, `source_row`, `stratum`, `weight`, a column per field and
            per kept column.
    """

    number: int
    table: Any


def sources_of(names: Sequence[str]) -> tuple[TableSource, ...]:
    """Return the files of paths and URLs; those of a folder in the order of their names.

    Of a Delta table, the files that its log names count. Folders named `column=value` give their files a
    column.

    Raises:
        DataError: if there is no such file, a folder without any, or a file of a Delta table alone.
        ConfigurationError: for a file of an unknown kind.
    """
    sources: list[TableSource] = []
    plain_folders: set[str] = set()
    for name in names:
        location = Location.of(name)
        if location.is_folder():
            sources += _sources_below(location, plain_folders)
        elif location.exists():
            _check_no_delta(location, plain_folders)
            sources.append(TableSource(location, format_of(location), partitions_of(location.path)))
        else:
            raise DataError("there is no such file or folder", source=location.name)
    return tuple(sources)


def _sources_below(folder: Location, plain_folders: set[str]) -> list[TableSource]:
    if is_delta_table(folder):
        return [
            TableSource(folder.child(file.path), "parquet", file.partitions) for file in active_files(folder)
        ]
    _check_no_delta(folder, plain_folders)
    files = list(_files_below(folder))
    if not files:
        raise DataError(
            f"has no file that ends in {', '.join(ENDINGS)}; give a folder with data", source=folder.name
        )
    return [TableSource(file, format_of(file), partitions_of(file.path)) for file in files]


def _check_no_delta(location: Location, plain_folders: set[str]) -> None:
    """Refuse a part of a Delta table: only the log of the whole table says whether its rows count.

    Args:
        plain_folders: those that are known to be none; others are added.
    """
    if location.is_web:
        return  # there are no folders
    path, name = location.path, location.name
    # Above a folder that names a partition there may be the table's own folder; other parents are not looked
    # at.
    is_partitioned = True
    while is_partitioned and path.rpartition("/")[0]:
        path, name = path.rpartition("/")[0], name.rpartition("/")[0] or "."
        if path not in plain_folders and is_delta_table(Location(location.fs, path, name)):
            raise DataError(
                f"is a part of a Delta table, which keeps removed rows; give its folder {name}",
                source=location.name,
            )
        plain_folders.add(path)
        is_partitioned = is_partition(path.rpartition("/")[2])


def _files_below(folder: Location) -> Iterator[Location]:
    with reaching(folder.name):
        paths = sorted(folder.fs.find(folder.path))
    for path in paths:
        relative = path[len(folder.path) :].lstrip("/")
        # As Spark and Hive do: `_SUCCESS`, `.crc` and the like are no data.
        hidden = any(part.startswith((".", "_")) for part in relative.split("/"))
        if not hidden and relative.lower().removesuffix(".gz").endswith(tuple(ENDINGS)):
            yield folder.child(relative)


class Stream:
    """Rows of sources as batches, always the same for the same arguments.

    Args:
        sources: files in order.
        wanted: columns of each of them.
        batch_rows: maximum size of a batch.
        chosen: rows of a sample; None for all rows.
        totals: numbers of rows of the sources, needed where rows are chosen.
    """

    def __init__(
        self,
        sources: Sequence[TableSource],
        columns_read: Sequence[Wanted],
        batch_rows: int,
        sample: SampledRows | None = None,
        totals: Sequence[int] = (),
    ) -> None:
        self._sources = sources
        self._wanted = columns_read
        self._batch_rows = batch_rows
        self._chosen = sample
        self._totals = totals

    def batches(self) -> Iterator[RowBatch]:
        """Return the batches; no batch has rows of two sources."""
        number = first = 0
        for index in range(len(self._sources)):
            # Row ids count all rows of earlier sources, also those that the sample left out.
            count = self._totals[index] if self._totals else 0
            for table in self._of_source(index, first, count):
                count = max(count, int(table["source_row"][-1].as_py()) + 1)
                yield RowBatch(number, table)
                number += 1
            first += count

    def _of_source(self, index: int, first: int, total: int) -> Iterator[Any]:
        """Return the batches of a source whose first row has this row id."""
        waiting: list[Any] = []
        rows = 0
        for table in self._pieces(index, first, total):
            waiting.append(table)
            rows += table.num_rows
            while rows >= self._batch_rows:
                together = _joined(waiting)
                yield from _bounded(together.slice(0, self._batch_rows))
                rest = together.slice(self._batch_rows)
                waiting, rows = [rest] if rest.num_rows else [], rest.num_rows
        if rows:
            yield from _bounded(_joined(waiting))

    def _pieces(self, index: int, first: int, total: int) -> Iterator[Any]:
        source, columns_read = self._sources[index], self._wanted[index]
        select: Rows | None = None
        if self._chosen is not None:
            start, end = np.searchsorted(self._chosen.rows, [first, first + total])
            select = self._chosen.rows[start:end] - first
            if not len(select):
                return
        fields = fields_of(columns_read)
        for rows, columns in source.reader().read(fields, select):
            yield self._table(index, first, rows, columns)

    def _table(self, index: int, first: int, rows: Rows, columns: dict[str, Any]) -> Any:
        import pyarrow as pa

        source, columns_read = self._sources[index], self._wanted[index]
        ids = rows + first
        if self._chosen is None:
            strata, weights = np.zeros(len(ids), dtype=np.int32), np.ones(len(ids))
        else:
            strata = self._chosen.strata[np.searchsorted(self._chosen.rows, ids)]
            weights = self._chosen.weights[strata]
        arrays = {
            "row_id": pa.array(ids),
            "source": pa.array(np.full(len(ids), index, dtype=np.int32)),
            "source_row": pa.array(rows),
            "stratum": pa.array(strata),
            "weight": pa.array(weights),
        }
        for field, column in columns_read.mapping.items():
            arrays[field] = array_of(columns[column], field, column, source.name)
        for name, column in columns_read.groups.items():
            arrays[GROUP + name] = array_of(columns[column], "", column, source.name)
        return pa.table(arrays)


def fields_of(columns_read: Wanted) -> dict[str, str]:
    """Return column to field; a column that is kept and mapped is read for its field."""
    columns = dict.fromkeys(columns_read.groups.values(), "")
    return columns | {column: field for field, column in columns_read.mapping.items()}


def _joined(tables: Sequence[Any]) -> Any:
    """Return one table; where one piece has lists of chunks and another texts, all have lists."""
    import pyarrow as pa

    kinds = {table.schema.field("context").type for table in tables if "context" in table.column_names}
    if len(kinds) > 1:
        tables = [_with_lists(table) for table in tables]
    return pa.concat_tables(tables)


def _with_lists(table: Any) -> Any:
    import pyarrow as pa

    column = table["context"]
    if not pa.types.is_string(column.type):
        return table
    lists = [None if value is None else list(chunks_of(value)) for value in column.to_pylist()]
    return table.set_column(
        table.column_names.index("context"), "context", pa.array(lists, pa.list_(pa.string()))
    )


def _bounded(table: Any) -> Iterator[Any]:
    """Return a table in parts of bounded size."""
    if table.nbytes <= MAX_BATCH_BYTES or table.num_rows == 1:
        yield table
        return
    half = table.num_rows // 2
    yield from _bounded(table.slice(0, half))
    yield from _bounded(table.slice(half))
