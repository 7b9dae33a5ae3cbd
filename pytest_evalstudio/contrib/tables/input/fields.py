"""Fields of an answer, the columns that they are read from, and their types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.contrib.tables.table.columns import RESERVED
from pytest_evalstudio.core.errors import ConfigurationError, DataError, nearest
from pytest_evalstudio.formats.chunks import TEXT_KEYS, read_chunks
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.text.unicode import valid_json

FIELDS = ("key", "model", "input", "actual_output", "expected_output", "context", "output_condition", "error")
"""Fields of a row; a column of the same name is used where `--map` names no other one."""
ANSWER = "actual_output"
NAMES = ("key", "model")
CONTEXT = "context"
_FIELD_OF_NEED = {"question": "input", "condition": "output_condition"}
"""Needs of evaluators that have another name as a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Columns to read.

    Attributes:
        mapping: field to column.
        groups: name of a kept column to the column of the source.
    """

    mapping: Mapping[str, str]
    groups: Mapping[str, str]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.mapping.values(), *self.groups.values())))


def check_names(mapping: Mapping[str, str], groups: Mapping[str, str]) -> None:
    """Check the fields of `--map` and the names of `--keep`.

    Raises:
        ConfigurationError: for an unknown field or a name that the table uses itself.
    """
    for field in mapping:
        if field not in FIELDS:
            raise ConfigurationError(
                f"--map {field}: is not a field of a row. {nearest(field, FIELDS)}"
                f" Fields: {', '.join(FIELDS)}"
            )
    for name in groups:
        if name in RESERVED:
            raise ConfigurationError(
                f"--keep {name}: is a column of every scored table; rename it by --keep NAME={groups[name]}"
            )


def wanted_columns(
    columns: Mapping[str, Any],
    mapping: Mapping[str, str],
    groups: Mapping[str, str],
    evaluators: Sequence[ConfiguredEvaluator],
    source: str,
) -> Wanted:
    """Return the columns to read from a source.

    Args:
        columns: that the source has, with their Arrow types as far as they are known.
        mapping: field to column, as the user gave it.
        groups: kept columns.
        evaluators: their needs must have columns.
        source: its name, for messages.

    Raises:
        DataError: if a column is missing, with the nearest one, or has a type that cannot be used.
    """
    complete = {field: field for field in FIELDS if field in columns} | dict(mapping)
    for field, column in complete.items():
        if column not in columns:
            raise _missing(column, f"which --map {field}={column} names", columns, source)
    for name, column in groups.items():
        if column not in columns:
            raise _missing(column, f"which --keep {name} names", columns, source)
    needs = {ANSWER: "which holds the answers"}
    for selected in evaluators:
        for need in selected.needs:
            needs.setdefault(_FIELD_OF_NEED.get(need, need), f"which {selected.id} needs")
    for field, reason in needs.items():
        if field not in complete:
            raise _missing(field, reason, columns, source, remedy=f"; map one by --map {field}=COLUMN")
    columns_read = Wanted(mapping=complete, groups=dict(groups))
    _check_types(columns, columns_read, source)
    return columns_read


def _check_types(columns: Mapping[str, Any], selection: Wanted, source: str) -> None:
    import pyarrow as pa

    required = [("", column) for column in selection.groups.values()]
    for field, column in [*selection.mapping.items(), *required]:
        if columns[column] is not None:
            # The conversion of an array without values checks the type alone.
            array_of(pa.nulls(0, columns[column]), field, column, source)


def _missing(column: str, reason: str, columns: Iterable[str], source: str, remedy: str = "") -> DataError:
    hint = nearest(column, columns) or f"Its columns: {', '.join(columns) or 'none'}."
    return DataError(f"has no column {column!r}, {reason}{remedy}. {hint}", source=source)


def array_of(values: Any, field: str, column: str, location: str) -> Any:
    """Return a column as the Arrow array of a field: text, or chunks of text.

    Args:
        values: Arrow array.
        field: name of a field; "" for a kept column.
        column: its name in the source, for messages.
        location: file, for messages.

    Raises:
        DataError: if the type cannot be used.
    """
    import pyarrow as pa
    import pyarrow.types as types

    kind = values.type
    if types.is_dictionary(kind):
        values = values.dictionary_decode()
        kind = values.type
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if is_text or types.is_null(kind):
        return values.cast(pa.string())
    if field == CONTEXT and _is_list_of_text(kind):
        return values.cast(pa.list_(pa.string()))
    if field == CONTEXT and _has_chunks(kind):
        chunks = [None if value is None else _texts(value) for value in values.to_pylist()]
        # More None than nulls: a context is in no known form.
        if values.null_count == chunks.count(None):
            return pa.array(chunks, pa.list_(pa.string()))
    is_plain = types.is_primitive(kind) or types.is_decimal(kind)
    if (field in NAMES or not field) and is_plain:
        return values.cast(pa.string())
    raise wrong_type(str(kind), field, column, location)


def wrong_type(kind: str, field: str, column: str, location: str) -> DataError:
    """Return the error for a column or value of a type that its field cannot have."""
    if field == CONTEXT:
        needed = "text, JSON text, a list of texts, or of objects with a text"
    elif field in NAMES or not field:
        needed = "text, a number, a date or true and false"
    else:
        needed = "text"
    what = field or "a kept column"
    return DataError(f"column {column!r} is {kind}; {what} needs {needed}", source=location)


def chunks_of(value: object) -> tuple[str, ...]:
    """Return the chunks of a context: those of a list, of the JSON text of a list, or one text.

    >>> chunks_of('["a", "b"]'), chunks_of("[1] a footnote"), chunks_of(None)
    (('a', 'b'), ('[1] a footnote',), ())
    """
    if value is None or value == "":
        return ()
    if not isinstance(value, str):
        assert isinstance(value, Sequence)
        return tuple(chunk for chunk in value if chunk is not None)
    if value.lstrip().startswith("["):
        try:
            chunks = json.loads(valid_json(value))
        except (ValueError, RecursionError):
            return (value,)
        if isinstance(chunks, list) and (texts := _texts(chunks)) is not None:
            return tuple(texts)
    return (value,)


def _texts(value: object) -> list[str] | None:
    """Return the texts of chunks in any form, None where it has another one."""
    chunks = read_chunks(value)
    return None if chunks is None else [chunk.text for chunk in chunks]


def _has_chunks(kind: Any) -> bool:
    """Return whether values of an Arrow type can be chunks: objects with a text, or a list of these."""
    import pyarrow.types as types

    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    return bool(types.is_struct(kind)) and any(each.name in TEXT_KEYS for each in kind)


def _is_list_of_text(kind: Any) -> bool:
    import pyarrow.types as types

    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return False
    item = kind.value_type
    return bool(types.is_string(item) or types.is_large_string(item) or types.is_null(item))
