"""Tables with columns of one's own: CSV, JSON Lines, JSON or Parquet with a map of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.csv_text import LIST_COLUMNS, OBJECT_COLUMNS
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    question_of,
    records,
    structure_of,
    text_of,
    texts_of,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.contexts import context_fields
from pytest_evalstudio.importers.references import outputs_of

_OF_OBJECTS = (
    *("conversation", "expected_tool_calls", "files", "images", "messages", "relationships", "steps"),
    *("context_scores", "output_constraints", "tool_calls", "turns"),
)
"""List columns whose items are no texts."""


def parse_map(text: str) -> dict[str, str]:
    """Return the columns by the fields of a row, from `field=column,…`.

    Raises:
        ConfigurationError: if a part is no pair, or a field is unknown.

    >>> parse_map("input=question, actual_output=answer")
    {'input': 'question', 'actual_output': 'answer'}
    """
    columns: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, column = part.partition("=")
        if not equals or not column.strip():
            raise ConfigurationError(f"--map {part!r}: expected FIELD=COLUMN, e.g. input=question")
        if name.strip() not in Row.model_fields:
            raise ConfigurationError(f"--map: {unknown_name('field', name.strip(), Row.model_fields)}")
        columns[name.strip()] = column.strip()
    return columns


def reader(columns: Mapping[str, str]) -> Callable[[Source], Imported]:
    """Return a reader of tables with these columns."""

    def read(source: Source) -> Imported:
        values = records(source, "rows", "inputs", "data")
        names = list(dict.fromkeys(name for value in values if isinstance(value, dict) for name in value))
        # Without a map, columns with the names of our fields are read.
        column_names = dict(columns) or {name: name for name in names if name in Row.model_fields}
        column_names.setdefault("input", "input")
        for name, column in column_names.items():
            if column not in names:
                raise ConfigurationError(
                    f"{source.name}: {unknown_name('column', column, names)} --map {name}=COLUMN names it"
                )
        return convert_records(source, values, lambda record, imported: _row(record, imported, column_names))

    return read


def _row(record: Record, imported: Imported, columns: Mapping[str, str]) -> Fields:
    question, turns = question_of(
        record, record.value.get(columns["input"]), imported.omissions, columns["input"]
    )
    fields: dict[str, object] = {"conversation": turns or None}
    for name, column in columns.items():
        value: Json = record.value.get(column)
        if name in ("context", "expected_chunks"):
            read = context_fields(value, imported.omissions)
            fields[name] = read.pop("context")
            if name == "context":
                fields |= {field: items for field, items in read.items() if items and field not in columns}
        elif name in LIST_COLUMNS:
            fields[name] = structure_of(value) if name in _OF_OBJECTS else texts_of(value)
        elif name in OBJECT_COLUMNS:
            fields[name] = structure_of(value)
        elif name == "expected_output":
            fields[name] = outputs_of(value, imported.omissions)
        elif isinstance(value, list | dict) and Row.model_fields[name].annotation is str:
            fields[name] = text_of(value, imported.omissions)
        else:
            fields[name] = value
    fields["input"] = question
    rest = {
        name: value
        for name, value in record.value.items()
        if name not in columns.values() and value not in (None, "", [], {})
    }
    return {**fields, METADATA: rest or None}
