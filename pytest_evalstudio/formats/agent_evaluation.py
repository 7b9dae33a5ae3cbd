"""Evaluation sets of Agent Evaluation: reading, and writing from data sets, suites and labs.

They are read into data sets and suites.

Files are JSON or YAML (a list of objects, or that list under `eval_set`), JSON Lines, or CSV, in whose cells
lists and objects are JSON.

Source: Mosaic AI Agent Evaluation, LLM judges reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.formats.agent_evaluation_export import (
    BY_NAME,
    LINES_SUFFIXES,
    WRITTEN_SUFFIXES,
    evaluation_entry,
    export_evaluation_set,
    flat_guidelines,
    without_a_place,
    write_evaluation_set,
)
from pytest_evalstudio.formats.csv_text import read_csv
from pytest_evalstudio.formats.dataset import LlmDataset, Row, complete_row_keys
from pytest_evalstudio.formats.fields import (
    FREE_KEY,
    EarlierTurn,
    FormatModel,
    Key,
    Text,
    Texts,
    is_unknown,
    shown,
    validate,
)
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.source import CSV_SUFFIXES, Source, parse, pointer, read_text
from pytest_evalstudio.formats.suite import FURTHER_KEYS, OURS, WRITTEN_KEYS, Test, TestSuite, complete_keys
from pytest_evalstudio.text.unicode import valid_json

__all__ = [
    "BY_NAME",
    "LINES_SUFFIXES",
    "NO_RESPONSE",
    "ROOT",
    "WRITTEN_SUFFIXES",
    "evaluation_entry",
    "evaluation_source",
    "export_evaluation_set",
    "is_evaluation_set",
    "load_evaluation_set",
    "read_evaluation_set",
    "suite_of",
    "without_a_place",
    "write_evaluation_set",
]

ROOT = "eval_set"
NO_RESPONSE = "the evaluation set has no response to this request"

_JSON_CELLS = ("request", "expected_facts", "retrieved_context", "expected_retrieved_context", "guidelines")
_TAKEN: Mapping[str, str] = {
    "key": "request_id",
    "input": "request",
    "conversation": "request",
    "actual_output": "response",
    "expected_output": "expected_response",
    "context": "retrieved_context",
    "context_sources": "retrieved_context",
    "expected_documents": "expected_retrieved_context",
    "expected_chunks": "expected_retrieved_context",
}
"""Keys of a row by what an evaluation set calls them."""


class _Chunk(FormatModel):
    content: Text = ""
    doc_uri: Text = ""


_Chunks = Annotated[list[_Chunk], BeforeValidator(lambda value: [] if value is None else value)]


class _Entry(FormatModel):
    request_id: Key = ""
    request: Any = None
    response: str | None = None
    expected_response: Text = ""
    expected_facts: Texts = Field(default_factory=list)
    retrieved_context: _Chunks = Field(default_factory=list)
    expected_retrieved_context: _Chunks = Field(default_factory=list)
    guidelines: Any = None


class _Lines(Source):
    """JSON Lines as one list: each line is preceded by a bracket or comma."""

    def locate(self, pointer: str) -> tuple[int, int]:
        line, column = super().locate(pointer)
        # Without the bracket or comma that `_parse_lines` puts before each line.
        return line, max(1, column - 1)


def load_evaluation_set(path: str | Path) -> LlmDataset:
    """Read an evaluation set as a data set.

    If some requests have a response, each request without one is an error. If no request has a response, the
    set has not been answered yet.

    Raises:
        DataError: for the first fault.
    """
    source = evaluation_source(Path(path))
    if not is_evaluation_set(source.data):
        raise DataError(
            f"is not an evaluation set: expected a list of objects with `request`, or that list under"
            f" `{ROOT}`",
            source=str(path),
        )
    dataset, errors = read_evaluation_set(source)
    if errors:
        raise errors[0]
    return dataset


def evaluation_source(path: Path, name: str = "") -> Source:
    """Parse a file that may be an evaluation set or any other supported format.

    Raises:
        DataError: if it cannot be parsed.
    """
    name = name or str(path)
    suffix = path.suffix.lower()
    if suffix in LINES_SUFFIXES:
        return _parse_lines(read_text(path, name), name)
    if suffix in CSV_SUFFIXES:
        columns, records, _ = read_csv(read_text(path, name), name)
        # With `input` it is a data set, which may have a column `request` of its own.
        if "request" in columns and "input" not in columns:
            return Source(name=name, text="", data=[_unpacked(record) for record in records])
    return read_source(path, name)


def is_evaluation_set(data: object) -> bool:
    """Return True if parsed data has the form of an evaluation set, judged by its root."""
    return isinstance(data, list) or (isinstance(data, dict) and ROOT in data)


def read_evaluation_set(source: Source) -> tuple[LlmDataset, list[DataError]]:
    """Read an evaluation set from a parsed file; a faulty entry does not affect the others.

    Raises:
        DataError: if there is no list of entries.
    """
    at: tuple[object, ...] = () if isinstance(source.data, list) else (ROOT,)
    entries = source.data if isinstance(source.data, list) else source.data[ROOT]
    if not isinstance(entries, list):
        raise source.error(pointer(*at), f"expected a list of requests, found {shown(entries)}")
    some_answered = any(isinstance(entry, dict) and entry.get("response") is not None for entry in entries)
    rows: list[Row] = []
    errors: list[DataError] = []
    locations: dict[tuple[str, str, int], str] = {}
    for index, data in enumerate(entries):
        try:
            row = _row(source, (*at, index), data, some_answered)
            location = pointer(*at, index)
            if (
                row.key
                and (earlier := locations.setdefault((row.key, row.model_key, row.run or 1), location))
                != location
            ):
                raise source.error(
                    pointer(*at, index, "request_id"),
                    f"{row.key!r} is already used by {earlier}; ids must be unique in a set",
                )
            rows.append(row)
        except DataError as exc:
            errors.append(exc)
    complete_row_keys(rows)
    return LlmDataset(inputs=rows), errors


def suite_of(dataset: LlmDataset, name: str = "TestSuite") -> TestSuite:
    """Return the questions of a data set as a test suite, without answers and retrieved context.

    Questions about the same documents are in one test.
    """
    suite = TestSuite(name=name)
    first: dict[str, Row] = {}
    # Rows with the same key are repeats, or answers of several models, to one question.
    for row in dataset.inputs:
        first.setdefault(row.key, row)
    tests: dict[tuple[str, ...], Test] = {}
    for row in first.values():
        documents = tuple(row.corpus)
        if documents not in tests:
            tests[documents] = suite.add_test(documents=list(documents))
        tests[documents].add_case(
            row.input,
            key=row.key,
            categories=row.categories,
            relationships=row.relationships,
            expected_output=row.expected_output,
            condition=row.output_condition,
            constraints=row.output_constraints,
            **{name: getattr(row, name) for name in OURS},
            **{"pass": row.policy},
            **_free_keys(row.model_extra or {}),
        )
    complete_keys(suite)
    return suite


def _free_keys(extra: Mapping[str, object]) -> dict[str, object]:
    """Return further keys of a row for a test case: those that a case does not have are below `metadata`."""
    unknown = {name: value for name, value in extra.items() if is_unknown(name, (), WRITTEN_KEYS)}
    if not unknown:
        return dict(extra)
    metadata = extra.get(FREE_KEY)
    if isinstance(metadata, dict):
        free = metadata
    else:
        free = {} if metadata is None else {FREE_KEY: metadata}
    known = {name: value for name, value in extra.items() if name not in unknown}
    return {**known, FREE_KEY: {**free, FURTHER_KEYS: unknown}}


def _row(source: Source, at: tuple[object, ...], data: object, some_answered: bool) -> Row:
    entry = validate(_Entry, data, source, *at)
    question, turns = _question_of(source, (*at, "request"), entry.request)
    guidelines, named = _guidelines(source, (*at, "guidelines"), entry.guidelines)
    more = dict(entry.model_extra or {})
    # Such a key would be overwritten below without notice.
    for name, field in _TAKEN.items():
        if name in more:
            raise source.error(
                pointer(*at, name), f"{name!r} is a key of data sets; in an evaluation set this is {field!r}"
            )
    sources = [chunk.doc_uri for chunk in entry.retrieved_context]
    _warn_of_lost(source, at, entry)
    values = {
        **more,
        **non_empty(**{BY_NAME: named}),
        "key": entry.request_id,
        "input": question,
        "conversation": turns,
        "actual_output": entry.response,
        "expected_output": entry.expected_response,
        "expected_facts": entry.expected_facts,
        "context": [chunk.content for chunk in entry.retrieved_context],
        # All or none: sources belong to chunks by their position.
        "context_sources": sources if any(sources) else [],
        "expected_documents": [chunk.doc_uri for chunk in entry.expected_retrieved_context if chunk.doc_uri],
        "expected_chunks": [chunk.content for chunk in entry.expected_retrieved_context if chunk.content],
        "guidelines": guidelines,
    }
    if some_answered and entry.response is None:
        values["error"] = more.get("error") or NO_RESPONSE
    return validate(Row, values, source, *at)


def _question_of(source: Source, at: tuple[object, ...], request: Any) -> tuple[str, list[EarlierTurn]]:
    """Return the question and the turns before it."""
    turns: list[EarlierTurn] = []
    if isinstance(request, dict) and "messages" in request:
        location: tuple[object, ...] = (*at, "messages")
        *turns, last = _turns(source, location, request["messages"]) or [EarlierTurn(role="user", content="")]
        if last.role != "user":
            raise source.error(
                pointer(*location, len(turns), "role"),
                "the last message is the question that is answered: its role must be 'user', not"
                f" {last.role!r}",
            )
        question, at = last.content, (*location, len(turns), "content")
        keys = {"messages"}
    elif isinstance(request, dict) and "query" in request:
        question = request["query"]
        history = request.get("history")
        turns = _turns(source, (*at, "history"), [] if history is None else history)
        at = (*at, "query")
        keys = {"query", "history"}
    else:
        question, keys = request, set()
    if not isinstance(question, str):
        expected = (
            "a text, or an object with `messages`, or with `query` and `history`" if not keys else "a text"
        )
        raise source.error(
            pointer(*at), f"expected {expected}, found {'nothing' if question is None else shown(question)}"
        )
    if not question.strip():
        raise source.error(pointer(*at), "the request is blank; write the question")
    if isinstance(request, dict) and (lost := sorted(map(str, set(request) - keys))):
        source.warnings.append(f"{source.name} {pointer(*at)}: {', '.join(lost)}: dropped from a request")
    return question, turns


def _turns(source: Source, at: tuple[object, ...], data: object) -> list[EarlierTurn]:
    if not isinstance(data, list):
        raise source.error(pointer(*at), f"expected a list of messages, found {shown(data)}")
    return [validate(EarlierTurn, item, source, *at, index) for index, item in enumerate(data)]


def _guidelines(source: Source, at: tuple[object, ...], data: Any) -> tuple[list[str], dict[str, object]]:
    """Return the guidelines, and the guidelines by name if the file names them."""
    if data is None:
        return [], {}
    if isinstance(data, dict):
        for name, value in data.items():
            _check_texts(source, (*at, name), value)
        return flat_guidelines(data), data
    _check_texts(source, at, data)
    return [data] if isinstance(data, str) else list(data), {}


def _check_texts(source: Source, at: tuple[object, ...], data: object) -> None:
    if isinstance(data, str):
        return
    if not isinstance(data, list):
        raise source.error(pointer(*at), f"expected a list of texts, found {shown(data)}")
    for position, text in enumerate(data):
        if not isinstance(text, str):
            raise source.error(pointer(*at, position), f"expected a text, found {shown(text)}")


def _warn_of_lost(source: Source, at: tuple[object, ...], entry: _Entry) -> None:
    for name in ("retrieved_context", "expected_retrieved_context"):
        chunks: list[_Chunk] = getattr(entry, name)
        lost = {key for chunk in chunks for key in chunk.model_extra or {}}
        if lost:
            keys = ", ".join(map(repr, sorted(lost)))
            source.warnings.append(f"{source.name} {pointer(*at, name)}: {keys}: dropped from a document")


def _parse_lines(text: str, name: str) -> Source:
    """Parse JSON Lines; blank lines are ignored.

    Raises:
        DataError: naming the line that is not JSON.
    """
    entries: list[Any] = []
    warnings: list[str] = []
    joined: list[str] = []
    # `splitlines` would divide at U+2028 as well, which texts in JSON may contain.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            joined.append("")
            continue
        try:
            entry = parse(line, name)
        except DataError as exc:
            raise DataError(exc.message, source=name, line=number, column=exc.column) from None
        warnings += entry.warnings
        joined.append(("," if entries else "[") + entry.text)
        entries.append(entry.data)
    return _Lines(name=name, text="\n".join(joined) + "]", data=entries, warnings=warnings)


def _unpacked(record: dict[str, Any]) -> dict[str, object]:
    """Decode the lists and objects in a row of CSV.

    A request is decoded only if it has the form of one.
    """
    row = dict(record)
    for name in _JSON_CELLS:
        cell = row.get(name, "")
        # A question may begin with a bracket; a request as an object begins with a brace.
        if cell[:1] not in ("[", "{") or (name == "request" and cell[:1] == "["):
            continue
        try:
            value = json.loads(valid_json(cell))
        # A text that only looks like JSON stays a text; the
        # validation of the row says whether that is allowed.
        except (ValueError, RecursionError):
            continue
        if name != "request" or (isinstance(value, dict) and {"messages", "query"} & set(value)):
            row[name] = value
    return row
