"""Common parts of the importers: the result, the omissions, and readers of records and messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.progress import report_progress
from pytest_evalstudio.core.tool_calls import read_tool_calls, unread_keys
from pytest_evalstudio.formats.agent_evaluation import evaluation_source
from pytest_evalstudio.formats.cells import Cell, list_in, object_in
from pytest_evalstudio.formats.csv_text import read_csv
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.fields import shown, validate
from pytest_evalstudio.formats.imported.parquet import SUFFIX as PARQUET_SUFFIX
from pytest_evalstudio.formats.imported.parquet import read_parquet
from pytest_evalstudio.formats.imported.workbook import SUFFIX as WORKBOOK_SUFFIX
from pytest_evalstudio.formats.imported.workbook import read_workbook
from pytest_evalstudio.formats.source import CSV_SUFFIXES, Source, pointer, read_text
from pytest_evalstudio.formats.suite import check_condition

Fields: TypeAlias = Mapping[str, object]
"""Values of a row by the names of `Row`, which validates them."""
REPORTED_RECORDS = 256
"""Records after which the progress is reported."""
METADATA = "metadata"
"""Key of a row or test case that keeps what the other tool stored beside it."""
QUESTION_KEYS = ("question", "input", "query", "prompt", "user_input", "text")
ANSWER_KEYS = ("answer", "output", "response", "expected", "expected_response", "result", "text")


@dataclass(frozen=True, slots=True)
class Omission:
    """A part of a file that has no counterpart here.

    Attributes:
        what: the part, as the other tool names it.
        remedy: how to get the same here, or why there is nothing to do.
    """

    what: str
    remedy: str


class Omissions:
    """Counts what is not imported."""

    def __init__(self) -> None:
        self._counts: dict[Omission, int] = {}

    def add(self, what: str, remedy: str) -> None:
        """Count one occurrence."""
        omission = Omission(what, remedy)
        self._counts[omission] = self._counts.get(omission, 0) + 1

    def keys(self, record: Mapping[str, object], names: Iterable[str], where: str, remedy: str) -> None:
        """Count the keys of an object that are not known and not empty."""
        names = frozenset(names)
        for name, value in record.items():
            if name not in names and value not in (None, "", [], {}):
                self.add(f"{where} {name!r}", remedy)

    def lines(self) -> list[str]:
        """Return a sentence for each kind of omission."""
        return [
            f"not imported: {omission.what} ({count} time{'s' if count > 1 else ''}): {omission.remedy}"
            for omission, count in self._counts.items()
        ]


@dataclass(slots=True)
class Imported:
    """Content of another tool's file.

    Attributes:
        name: name for the suite or lab.
        rows: one per answer, or per question where there is no answer.
        models: models of the answers by their keys; empty where the file names none.
        errors: one for each record that is left out.
    """

    name: str
    rows: list[Row] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    errors: list[DataError] = field(default_factory=list)
    omissions: Omissions = field(default_factory=Omissions)

    @property
    def is_answered(self) -> bool:
        """True if a row has an answer."""
        return any(row.actual_output or row.error for row in self.rows)


Convert: TypeAlias = Callable[["Record", Imported], "Fields | None"]
"""Converts a record to the fields of a row; None leaves it out."""


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file, with its place for messages."""

    source: Source
    at: tuple[object, ...]
    value: Mapping[str, Json]

    def error(self, message: str, *steps: object) -> DataError:
        """Return an error at a place in the record."""
        return self.source.error(pointer(*self.at, *steps), message)


def records(source: Source, *roots: str) -> list[Json]:
    """Return the records of a file: its list, or the list under one of the root keys.

    Raises:
        DataError: if there is no such list.
    """
    data = source.data
    for root in roots:
        if isinstance(data, dict) and isinstance(data.get(root), list):
            data = data[root]
            break
    if not isinstance(data, list):
        under = f", or an object with a list under {' or '.join(map(repr, roots))}" if roots else ""
        raise source.error("", f"expected a list of records{under}, found {shown(source.data)}")
    return data


def convert_records(source: Source, values: Sequence[Json], convert: Convert, *at: object) -> Imported:
    """Convert each record to a row; a faulty record is an error and does not affect the others."""
    return convert_each(source, (((*at, index), value) for index, value in enumerate(values)), convert)


def convert_each(
    source: Source, values: Iterable[tuple[tuple[object, ...], Json]], convert: Convert
) -> Imported:
    """Convert records with their places in the file, as `convert_records`."""
    imported = Imported(name=Path(source.name).stem)
    for count, (at, value) in enumerate(values):
        if count and count % REPORTED_RECORDS == 0:
            report_progress(count, None, "records")
        try:
            if not isinstance(value, dict):
                raise source.error(pointer(*at), f"expected an object, found {shown(value)}")
            record = Record(source, at, value)
            fields = convert(record, imported)
            if fields is not None:
                imported.rows.append(row_of(record, fields))
        except DataError as exc:
            imported.errors.append(exc)
    return imported


def row_of(record: Record, fields: Fields) -> Row:
    """Return a valid row.

    Raises:
        DataError: if a value does not fit, the question is blank or the condition is malformed.
    """
    plain = {
        # `Cell` marks a text of CSV only while the record is converted.
        name: str(value) if isinstance(value, Cell) else value
        for name, value in fields.items()
        # None means that the file says nothing, so the default of the row applies.
        if value is not None
    }
    row = validate(Row, plain, record.source, *record.at)
    if not row.input.strip():
        raise record.error("has no question")
    check_condition(
        record.source, row.output_condition, row.output_constraints, record.at, "condition", "constraints"
    )
    return row


def read_file(path: Path, name: str = "", delimiter: str = "") -> Source:
    """Parse a file of records: JSON, JSON Lines, YAML, Parquet, or CSV and XLSX, whose cells are texts.

    Raises:
        DataError: if it cannot be parsed.
        ConfigurationError: if the file needs an extra that is not installed.
    """
    name = name or str(path)
    suffix = path.suffix.lower()
    if suffix == PARQUET_SUFFIX:
        return Source(name=name, text="", data=read_parquet(path, name))
    if suffix == WORKBOOK_SUFFIX:
        return read_workbook(path, name)
    if suffix in CSV_SUFFIXES:
        _, rows, _ = read_csv(read_text(path, name), name, delimiter)
        return Source(
            name=name, text="", data=[{key: Cell(cell) for key, cell in row.items()} for row in rows]
        )
    return evaluation_source(path, name)


def structure_of(value: Json) -> Json:
    """Return the list or object in a CSV cell where one is expected; other values stay as they are.

    Raises:
        DataError: if a list is incomplete.
    """
    if not isinstance(value, Cell):
        return value
    try:
        values: Json = list_in(value)
    except ValueError as exc:
        raise DataError(str(exc)) from None
    if values is None:
        values = object_in(value)
    return value if values is None else values


def with_structures(record: Record, *names: str) -> dict[str, Json]:
    """Return a record whose named values are lists or objects also where they come from CSV cells."""
    return {name: structure_of(value) if name in names else value for name, value in record.value.items()}


def question_of(
    record: Record, value: Json, omissions: Omissions, *at: object
) -> tuple[str, list[dict[str, str]]]:
    """Return the question and the turns before it.

    Args:
        value: a text, a list of messages, or an object with one of these under a usual name.

    Raises:
        DataError: if there is no question.
    """
    # Only a list of messages: a question may begin with "[" and be valid JSON all the same.
    if isinstance(value, Cell) and _is_conversation(messages := structure_of(value)):
        value = messages
    if isinstance(value, str):
        return value, []
    if isinstance(value, list):
        return _messages(record, value, omissions, *at)
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return question_of(record, value["messages"], omissions, *at, "messages")
        name = next((key for key in QUESTION_KEYS if isinstance(value.get(key), str)), None)
        texts = [key for key, item in value.items() if isinstance(item, str)]
        # The only text of an object is the question, whatever its key.
        name = name or (texts[0] if len(texts) == 1 else None)
        if name is not None:
            omissions.keys(
                value, {name}, "input", "the question is one text; write the rest into it, or map a column"
            )
            return str(value[name]), []
    raise record.error(
        f"expected a question as a text, a list of messages, or an object with one of"
        f" {', '.join(QUESTION_KEYS)}; found {shown(value)}",
        *at,
    )


def _is_conversation(value: Json) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and {"role", "type"} & set(item) for item in value)
    )


def _messages(
    record: Record, messages: Sequence[Json], omissions: Omissions, *at: object
) -> tuple[str, list[dict[str, str]]]:
    turns: list[dict[str, str]] = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise record.error(f"expected a message, found {shown(message)}", *at, index)
        role = _ROLES.get(str(message.get("role", message.get("type", ""))))
        if role is None:
            omissions.add(
                f"message of role {message.get('role', message.get('type'))!r}", "tools are not replayed"
            )
            continue
        omissions.keys(message, _OF_MESSAGES, "key of a message", "a message has a role and a text")
        turns.append({"role": role, "content": text_of(message.get("content"), omissions)})
    # Recorded conversations end with the answer, which the row does not replay.
    while turns and turns[-1]["role"] != "user":
        omissions.add("message after the last question", "the answer is asked anew")
        turns.pop()
    if not turns:
        raise record.error("has no message of a user", *at)
    return turns[-1]["content"], turns[:-1]


_OF_MESSAGES = ("role", "type", "content", "tool_calls", "id")
"""Keys of messages that are read, or that a reader of calls reads."""
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
}


def text_of(value: Json, omissions: Omissions) -> str:
    """Return a text: of a message's parts, or under a usual name of an object; else JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and are_parts(value):
        texts = []
        for part in value:
            assert isinstance(part, dict)
            if isinstance(part.get("text"), str):
                texts.append(str(part["text"]))
            else:
                omissions.add(f"content of type {part.get('type')!r}", "only texts are imported")
        return "\n".join(texts)
    if isinstance(value, dict):
        if name := answer_key(value):
            return str(value[name])
        if len(value) == 1 and isinstance(only := next(iter(value.values())), str):
            return only
    return json.dumps(value, ensure_ascii=False)


def answer_key(value: Mapping[str, Json], types: type | tuple[type, ...] = str) -> str:
    """Return the key under which an object has an answer of some type, "" for none."""
    names = (*ANSWER_KEYS, *_SEVERAL_ANSWERS) if types is not str else ANSWER_KEYS
    return next((key for key in names if isinstance(value.get(key), types)), "")


_SEVERAL_ANSWERS = ("answers", "short_answers", "outputs", "responses", "references", "targets")


def are_parts(value: Json) -> bool:
    """Return True for the parts of a message."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(part, dict) and "type" in part for part in value)


def texts_of(value: Json) -> list[str]:
    """Return a list of texts; a single text is a list of one."""
    if value is None or value == "":
        return []
    if isinstance(value, Cell):
        values = structure_of(value)
        value = values if isinstance(values, list) else str(value)
    if isinstance(value, list):
        return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]


def items_of(value: Json) -> list[Json]:
    """Return the items of a list; another value is a list of one, and nothing an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def key_of(*values: Json) -> str:
    """Return the first value that is there as a key, "" without one; 0 is a key.

    >>> key_of(None, 0), key_of(None, "")
    ('0', '')
    """
    return next((str(value) for value in values if value is not None and value != ""), "")


def mapping_of(value: Json) -> dict[str, Json]:
    """Return an object; any other value is an empty one."""
    return value if isinstance(value, dict) else {}


def metadata(record: Record, *names: str) -> dict[str, Json]:
    """Return the named values that are not empty, for the key `metadata` of the row."""
    return {
        name: structure_of(record.value[name])
        for name in names
        if record.value.get(name) not in (None, "", [], {})
    }


def calls_of(record: Record, value: Json, name: str, omissions: Omissions) -> list[dict[str, Any]]:
    """Return the calls of a record in our form; keys that a call does not have are counted.

    Args:
        value: a list of calls, or the text of a CSV cell with one.
        name: key of the calls in the record, for errors.

    Raises:
        DataError: if one of them is no call.
    """
    values = _list(value)
    for each in values:
        for key in unread_keys(each):
            omissions.add(f"{key!r} of a call", "a call has a name, arguments, a result or an error")
    try:
        return [call.to_dict() for call in read_tool_calls(values)]
    except ValueError as exc:
        raise record.error(str(exc), name) from None


def expected_calls_of(
    record: Record, value: Json, name: str, omissions: Omissions
) -> list[dict[str, Any]] | None:
    """Return expected calls in our form, None where the record says nothing of them.

    Raises:
        DataError: if one of them is no call.
    """
    calls = calls_of(record, value, name, omissions)
    for call in calls:
        if call.get("result"):
            omissions.add(f"results of {name}", "expectations are on calls and their arguments")
    expected = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    return expected or None


def _list(value: Json) -> list[Json]:
    if isinstance(value, str) and not value.strip():  # an empty cell of a table
        return []
    return items_of(structure_of(Cell(value)) if isinstance(value, str) else value)
