"""Readers of Parquet, JSON Lines and CSV: columns of a file, and its rows in pieces of bounded size."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_evalstudio.contrib.tables.input.fields import CONTEXT, NAMES, chunks_of, wrong_type
from pytest_evalstudio.contrib.tables.table.storage import EXTRA, PURPOSE, Location, reaching
from pytest_evalstudio.core.columns import check_columns
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.formats.chunks import read_chunks
from pytest_evalstudio.record.codec import decode_plain
from pytest_evalstudio.scoring.masking import masked

Rows = NDArray[np.int64]
"""Numbers of rows."""
LINES = 1_000
"""Lines of JSON that are read together, and from which the columns of a file are seen."""
BLOCK_BYTES = 4 << 20
_FACT_CHARS = 200
_ROW_TEXT = re.compile(r"(, got \d+): .*")
"""Text of a row in a message about CSV."""
_ESCAPED_NAME = re.compile(rb'"[^"\\]*\\(?:[^"\\]|\\.)*"\s*:')
"""Text with an escape before a colon: the name of a column in JSON, seldom anything else."""
ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}


class Reader(Protocol):
    """Reads one file."""

    rows: int | None
    """Number of rows; None where it is not known before they are read."""

    def columns(self) -> dict[str, Any]:
        """Return the Arrow type of each column, None where it may differ from row to row."""
        ...

    def read(self, fields: dict[str, str], select: Rows | None) -> Iterator[tuple[Rows, dict[str, Any]]]:
        """Return pieces of the file: numbers of its rows, and Arrow arrays by column.

        Args:
            fields: column to the field that it is read for, "" for a kept column.
            select: ordered numbers of the wanted rows; None for all.
        """
        ...


def format_of(location: Location) -> str:
    """Return the format of a file by the ending of its name.

    Raises:
        ConfigurationError: if it has another ending.
    """
    name = location.path.lower().removesuffix(".gz")
    for ending, format in ENDINGS.items():
        # Parquet is read from its end, so that gzip around it is refused.
        if name.endswith(ending) and (format != "parquet" or name == location.path.lower()):
            return format
    raise ConfigurationError(
        f"{location.name}: the file type is unknown; give a file that ends in"
        f" {', '.join(ENDINGS)}, or a folder"
    )


def reader_of(location: Location, format: str) -> Reader:
    """Return the reader of a file."""
    readers: dict[str, type[Reader]] = {"parquet": ParquetReader, "jsonl": JsonReader, "csv": CsvReader}
    return readers[format](location)  # type: ignore[call-arg]


class ParquetReader:
    """Reads a Parquet file, row group by row group."""

    def __init__(self, location: Location) -> None:
        self._location = location
        parquet = import_extra("pyarrow.parquet", PURPOSE, extra=EXTRA)
        with _readable(location, "Parquet"):
            # Without pre-buffering, the columns of a row group are read piece by piece, not all into memory.
            self._file = parquet.ParquetFile(location.open(), pre_buffer=False, buffer_size=1 << 20)
        self.rows: int | None = self._file.metadata.num_rows

    def columns(self) -> dict[str, Any]:
        schema = self._file.schema_arrow
        check_columns(schema.names, self._location.name)
        return {field.name: field.type for field in schema}

    def read(self, fields: dict[str, str], select: Rows | None) -> Iterator[tuple[Rows, dict[str, Any]]]:
        start = 0
        for group in range(self._file.metadata.num_row_groups):
            size = self._file.metadata.row_group(group).num_rows
            end = start + size
            if select is None or np.searchsorted(select, start) < np.searchsorted(select, end):
                with _readable(self._location, f"Parquet (row group {group})"):
                    yield from self._group(group, start, list(fields), select)
            start = end

    def _group(
        self, group: int, start: int, columns: list[str], select: Rows | None
    ) -> Iterator[tuple[Rows, dict[str, Any]]]:
        for batch in self._file.iter_batches(batch_size=LINES, row_groups=[group], columns=columns):
            rows = np.arange(start, start + batch.num_rows, dtype=np.int64)
            start += batch.num_rows
            yield from _selected(rows, {name: batch.column(name) for name in columns}, select)


class CsvReader:
    """Reads a CSV file in blocks; all values are text."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self.rows: int | None = None

    def columns(self) -> dict[str, Any]:
        # UTF-16 without a byte-order mark is valid UTF-8 with zero bytes.
        with _readable(self._location, "CSV"), _stream(self._location) as file:
            if b"\0" in file.readline(BLOCK_BYTES):
                raise _not_utf8(self._location)
        with _readable(self._location, "CSV"), self._open(None) as reader:
            check_columns(reader.schema.names, self._location.name)
            return dict.fromkeys(field.name for field in reader.schema)

    def read(self, fields: dict[str, str], select: Rows | None) -> Iterator[tuple[Rows, dict[str, Any]]]:
        start = 0
        with _readable(self._location, "CSV"), self._open(list(fields)) as reader:
            for batch in reader:
                rows = np.arange(start, start + batch.num_rows, dtype=np.int64)
                start += batch.num_rows
                yield from _selected(rows, {name: batch.column(name) for name in fields}, select)

    def _open(self, columns: Sequence[str] | None) -> Any:
        csv = import_extra("pyarrow.csv", PURPOSE, extra=EXTRA)
        pa = import_extra("pyarrow", PURPOSE, extra=EXTRA)
        convert = csv.ConvertOptions()
        if columns is not None:
            # Types inferred from the first block would change a text such as 007, or fail in a later block.
            convert = csv.ConvertOptions(
                include_columns=columns, column_types={name: pa.string() for name in columns}
            )
        return csv.open_csv(
            _stream(self._location),
            read_options=csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=convert,
        )


class JsonReader:
    """Reads a file with a JSON object per line."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self.rows: int | None = None

    def columns(self) -> dict[str, Any]:
        names: dict[str, None] = {}
        for number, line in self._lines():
            names |= dict.fromkeys(self._object(number, line))
            if number > LINES:
                break
        return dict(names)

    def read(self, fields: dict[str, str], select: Rows | None) -> Iterator[tuple[Rows, dict[str, Any]]]:
        row_numbers = None if select is None else set(select.tolist())
        rows: list[int] = []
        lists: dict[str, list[Any]] = {column: [] for column in fields}
        quoted = [json.dumps(column, ensure_ascii=False).encode() for column in fields]
        for row, (number, line) in enumerate(self._lines()):
            if row_numbers is not None and row not in row_numbers:
                continue
            value = self._object(number, line)
            # Seldom: a column, or a word in a text; or a name that is written with escapes.
            if any(line.count(text) > 1 for text in quoted) or (b"\\" in line and _ESCAPED_NAME.search(line)):
                self._check_line(number, line)
            rows.append(row)
            for column, field in fields.items():
                lists[column].append(self._value(value.get(column), field, column, number))
            if len(rows) == LINES:
                yield np.array(rows, dtype=np.int64), _arrays(lists, fields)
                rows, lists = [], {column: [] for column in fields}
        if rows:
            yield np.array(rows, dtype=np.int64), _arrays(lists, fields)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Return the lines that are not blank, with their numbers from 1."""
        with _readable(self._location, "JSON Lines"), _stream(self._location) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line

    def _object(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if not _is_utf8([line]):
                raise _not_utf8(self._location, f":{number}") from None
            value = self._plain(number, line)
        if not isinstance(value, dict):
            raise DataError(
                "is not a JSON object; give one per line", source=f"{self._location.name}:{number}"
            )
        return value

    def _check_line(self, number: int, line: bytes) -> None:
        """Refuse a line whose object has a column twice."""
        names: list[str] = []

        def object_of(pairs: list[tuple[str, Any]]) -> None:
            names[:] = [name for name, _ in pairs]  # the outermost object comes last

        with suppress(ValueError, RecursionError):  # reading the line reports that it is not JSON
            json.loads(line, object_pairs_hook=object_of)
            check_columns(names, f"{self._location.name}:{number}")

    def _plain(self, number: int, line: bytes) -> object:
        try:
            return decode_plain(line)
        except (ValueError, RecursionError):
            raise DataError(
                "is not JSON; give a JSON object per line", source=f"{self._location.name}:{number}"
            ) from None

    def _value(self, value: Any, field: str, column: str, number: int) -> Any:
        """Return a value as text or a list of texts."""
        if value is None or isinstance(value, str):
            return value
        if (field in NAMES or not field) and isinstance(value, bool | int | float):
            # As Arrow casts them, so that a group has the same name in every format. A bool is an int, too.
            return str(value).lower() if isinstance(value, bool) else str(value)
        if field == CONTEXT and (chunks := read_chunks(value)) is not None:
            return [chunk.text for chunk in chunks]
        kind = {list: "a list", dict: "an object", bool: "true or false"}.get(type(value), "a number")
        raise wrong_type(kind, field, column, f"{self._location.name}:{number}")


def _arrays(lists: dict[str, list[Any]], fields: dict[str, str]) -> dict[str, Any]:
    """Return the Arrow arrays of a piece; a context is a list where one of its values is."""
    import pyarrow as pa

    arrays = {}
    for column, values in lists.items():
        kind = pa.string()
        if fields[column] == CONTEXT and any(isinstance(value, list) for value in values):
            kind = pa.list_(pa.string())
            values = [None if value is None else list(chunks_of(value)) for value in values]
        arrays[column] = text_array(values, kind)
    return arrays


def text_array(values: Sequence[Any], kind: Any) -> Any:
    """Return an Arrow array of texts; half surrogate pairs, which UTF-8 cannot encode, become escapes."""
    import pyarrow as pa

    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([_storable(value) for value in values], kind)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return [_storable(item) for item in value] if isinstance(value, list | tuple) else value


def _selected(
    rows: Rows, columns: dict[str, Any], select: Rows | None
) -> Iterator[tuple[Rows, dict[str, Any]]]:
    """Return a piece with the selected rows only, nothing if there are none."""
    if select is None:
        if len(rows):
            yield rows, columns
        return
    if not len(rows):
        return
    first, last = np.searchsorted(select, [rows[0], rows[-1] + 1])
    row_ids = select[first:last]
    if len(row_ids):
        indices = row_ids - rows[0]
        yield row_ids, {name: column.take(indices) for name, column in columns.items()}


def _stream(location: Location) -> Any:
    """Open a file for reading, unpacked if its name ends in .gz."""
    with reaching(location.name):
        location.check_file()
        return location.fs.open(location.path, "rb", compression="infer")


def _is_utf8_file(location: Location) -> bool:
    with _stream(location) as file:
        return _is_utf8(iter(lambda: file.read(BLOCK_BYTES), b""))


def _is_utf8(blocks: Iterable[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in blocks:
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _not_utf8(location: Location, line: str = "") -> DataError:
    return DataError("is not UTF-8; convert the file to UTF-8", source=location.name + line)


@contextmanager
def _readable(location: Location, format: str) -> Iterator[None]:
    """Turn faults of a file's content, and of its store, into one sentence each."""
    pa = import_extra("pyarrow", PURPOSE, extra=EXTRA)
    with reaching(location.name):
        try:
            yield
        except (pa.ArrowException, EOFError, UnicodeDecodeError, OSError) as exc:
            # pyarrow raises a bare OSError for corrupt content; its subclasses come from the store.
            if isinstance(exc, OSError) and type(exc) is not OSError:
                raise
            if format == "CSV" and not isinstance(exc, OSError | EOFError) and not _is_utf8_file(location):
                raise _not_utf8(location) from None
            fact = masked(_ROW_TEXT.sub(r"\1", str(exc).splitlines()[0]))[:_FACT_CHARS]
            raise DataError(f"cannot be read as {format}: {fact}", source=location.name) from None
