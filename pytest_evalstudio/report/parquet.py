"""Results as Parquet, where pyarrow is installed (extra `parquet`): typed columns, lists as lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = "application_vnd_apache_parquet"
MIME = "application/vnd.apache.parquet"
ROWS_AT_ONCE = 2_000
_LISTS = ("corpus", "context", "context_sources", "categories")
_INTEGERS = ("run", "retries")
_FLOATS = ("actual_duration", "cost")
_BOOLEANS = ("uncertain",)


def available() -> bool:
    """Return True if pyarrow is installed."""
    return find_spec("pyarrow") is not None


class ParquetSheet:
    """Takes rows one by one and writes them in batches.

    Args:
        columns: names, in the order of the values of a row.
        scores: those of them that hold an evaluator's scores.
    """

    def __init__(self, path: Path, columns: Sequence[str], scores: Sequence[str]) -> None:
        import pyarrow.parquet

        path.parent.mkdir(parents=True, exist_ok=True)
        self._columns = list(columns)
        self._scores = frozenset(scores)
        self._schema = _schema(columns, self._scores)
        self._writer = pyarrow.parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Sequence[Any]] = []

    def add(self, values: Sequence[object]) -> None:
        """Take one row."""
        self._rows.append(values)
        if len(self._rows) == ROWS_AT_ONCE:
            self._flush()

    def close(self) -> None:
        """Write the remaining rows."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow

        if not self._rows:
            return
        values = zip(*self._rows, strict=True)
        columns = [
            self._column(name, column, field.type)
            for name, column, field in zip(self._columns, values, self._schema, strict=True)
        ]
        self._writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=self._schema))
        self._rows = []

    def _column(self, name: str, values: Sequence[Any], kind: object) -> object:
        import pyarrow

        if name in self._scores:
            values = [None if value is None else float(value) for value in values]
        elif name == "usage":
            values = [
                None if value is None else [(key, float(count)) for key, count in value.items()]
                for value in values
            ]
        try:
            return pyarrow.array(values, kind)
        except UnicodeEncodeError:
            return pyarrow.array([_storable(value) for value in values], kind)


def _schema(columns: Sequence[str], scores: frozenset[str]) -> Any:
    import pyarrow

    text = pyarrow.string()
    link = pyarrow.struct([("type", text), ("target", text), ("target_type", text)])
    kinds: dict[str, Any] = {
        **dict.fromkeys(_LISTS, pyarrow.list_(text)),
        **dict.fromkeys(_INTEGERS, pyarrow.int64()),
        **dict.fromkeys(_BOOLEANS, pyarrow.bool_()),
        **dict.fromkeys((*_FLOATS, *scores), pyarrow.float64()),
        "relationships": pyarrow.list_(link),
        "usage": pyarrow.map_(text, pyarrow.float64()),
    }
    return pyarrow.schema([(name, kinds.get(name, text)) for name in columns])


def _storable(value: object) -> object:
    """Return a value in which half surrogate pairs, which UTF-8 cannot encode, are escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, (list, tuple)) else value
