"""Results as Parquet, by pyarrow (extra `parquet`): typed columns, lists as lists.

They are written on demand: pyarrow alone takes 50 MB and a twentieth of a short run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import orjson

from pytest_evalstudio.core.errors import ResourceMissing

FOLDER = "application_vnd_apache_parquet"
MIME = "application/vnd.apache.parquet"
ROWS_AT_ONCE = 1_000
Kind = Literal["text", "texts", "integer", "number", "boolean", "links", "counts", "nested"]
"""Types of columns; "nested" are JSON texts."""
_USAGE = "usage"


def require_pyarrow() -> None:
    """Check that pyarrow is installed, without importing it.

    Raises:
        ResourceMissing: with the command that installs it.
    """
    if find_spec("pyarrow") is None:
        fact = "Parquet needs the pyarrow package"
        raise ResourceMissing(f'{fact}: pip install "pytest-evalstudio[parquet]"', brief=fact)


class ParquetSheet:
    """Takes rows one by one and writes them in batches.

    Args:
        columns: names, in the order of the values of a row.
        kinds: of columns; others are texts.
        scores: those of them that hold an evaluator's scores.
        shared: number of the first columns that `shared_columns` encodes.
    """

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        kinds: Mapping[str, Kind],
        scores: Sequence[str],
        *,
        shared: int,
    ) -> None:
        import pyarrow.parquet

        path.parent.mkdir(parents=True, exist_ok=True)
        self._columns = list(columns)
        self._shared = shared
        self._scores = frozenset(scores)
        self._schema = _schema(columns, {**kinds, **dict.fromkeys(scores, "number")})
        # pyarrow's own allocator keeps 10 to 15 MB of what it has freed.
        self._pool = pyarrow.system_memory_pool()
        self._writer = pyarrow.parquet.ParquetWriter(
            path, self._schema, compression="zstd", memory_pool=self._pool
        )
        self._rows: list[tuple[bytes, Sequence[Any]]] = []

    def add(self, shared: bytes, values: Sequence[object]) -> None:
        """Take one row.

        Args:
            shared: its first columns, as `shared_columns` encodes them.
            values: of the other columns.
        """
        self._rows.append((shared, values))
        if len(self._rows) == ROWS_AT_ONCE:
            self._flush()

    def close(self) -> None:
        """Write the remaining rows."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            lines = [b"%s,%s" % (shared, self._line(values)[1:]) for shared, values in self._rows]
            self._writer.write_table(self._table(lines))
            self._rows = []

    def _line(self, values: Sequence[Any]) -> bytes:
        row = dict(zip(self._columns[self._shared :], values, strict=True))
        for name in self._scores:
            # Rows hold an infinite score as the word "Infinity", which float() reads.
            row[name] = None if row[name] is None else float(row[name])
        return _json_line(row)

    def _table(self, lines: Sequence[bytes]) -> object:
        """Return rows as a table.

        The reader of JSON builds the columns: `pyarrow.array` imports pandas, which takes 0.4 s and 40 MB.
        """
        import pyarrow
        import pyarrow.json

        text = b"\n".join(lines)
        table = pyarrow.json.read_json(
            pyarrow.BufferReader(text),
            # One block for all: a row that is longer than a block is an error for pyarrow.
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=_read_schema(self._schema), unexpected_field_behavior="error"
            ),
            memory_pool=self._pool,
        )
        if _USAGE not in self._columns:
            return table
        index = self._columns.index(_USAGE)
        pairs = table.column(_USAGE).combine_chunks()
        keys, counts = pairs.values.flatten()
        usage = pyarrow.MapArray.from_arrays(pairs.offsets, keys, counts, mask=_nulls(pairs))
        return table.set_column(index, self._schema.field(_USAGE), usage)


def _nulls(array: Any) -> Any:
    """Return which values of an array are null, or None without any.

    `Array.is_null` imports pyarrow.compute, which takes 10 MB.
    """
    import pyarrow

    valid = array.buffers()[0]
    if valid is None:
        return None
    inverted = bytes(255 - byte for byte in valid.to_pybytes())
    return pyarrow.Array.from_buffers(pyarrow.bool_(), len(array), [None, pyarrow.py_buffer(inverted)])


def shared_columns(columns: Sequence[str], values: Sequence[Any]) -> bytes:
    """Return the columns that the rows of several sheets share, as JSON without its end."""
    row = dict(zip(columns, values, strict=True))
    if row.get(_USAGE) is not None:
        row[_USAGE] = [{"key": key, "value": float(count)} for key, count in row[_USAGE].items()]
    return _json_line(row)[:-1]


def _schema(columns: Sequence[str], kinds: Mapping[str, Kind]) -> Any:
    import pyarrow

    text = pyarrow.string()
    link = pyarrow.struct([("type", text), ("target", text), ("target_type", text)])
    types = {
        "texts": pyarrow.list_(text),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "links": pyarrow.list_(link),
        "counts": pyarrow.map_(text, pyarrow.float64()),
    }
    return pyarrow.schema([(name, types.get(kinds.get(name, "text"), text)) for name in columns])


def _read_schema(schema: Any) -> Any:
    """Return the schema as the reader of JSON knows it, which has no maps."""
    import pyarrow

    if _USAGE not in schema.names:
        return schema
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.float64())])
    return schema.set(schema.names.index(_USAGE), pyarrow.field(_USAGE, pyarrow.list_(pair)))


def _json_line(row: Mapping[str, object]) -> bytes:
    try:
        # pyarrow reads Infinity and NaN, for which orjson would write null.
        if all(value.__class__ is not float or math.isfinite(value) for value in row.values()):
            return orjson.dumps(row)
    except orjson.JSONEncodeError:
        pass  # half a surrogate pair, or a large integer
    return json.dumps({name: _storable(value) for name, value in row.items()}, ensure_ascii=False).encode()


def _storable(value: object) -> object:
    """Return a value in which half surrogate pairs, which UTF-8 cannot encode, are escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, (list, tuple)) else value
