"""Results files: every row of an evaluator as JSON, CSV and, on demand, Parquet.

They are written while the items are read.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple, get_type_hints

import msgspec
import orjson
from msgspec import Struct

from pytest_evalstudio.core.attachments import IMAGE_TYPES
from pytest_evalstudio.core.cases import Answer, Exchange
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.quick_json import written
from pytest_evalstudio.core.reported import reported_facts
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.record.codec import portable
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, JsonObject, ModelEntry, RecordRow
from pytest_evalstudio.report import parquet
from pytest_evalstudio.report.descriptions import ModelRequests, describe_model
from pytest_evalstudio.report.highlight import segments

_KINDS: Mapping[object, parquet.Kind] = {
    str: "text",
    int: "integer",
    int | None: "integer",
    float: "number",
    float | None: "number",
}
"""Kinds of columns by the type of a fact of an answer."""
OF_EVALUATOR = ("outcomes", "result_error_message", "actual_output_meta", "status", "reason")
"""Names of the columns of one evaluator, beside those of its metrics."""
UNCERTAIN = "uncertain"
"""Column of a calibrated evaluator: whether the verdict is uncertain; in JSON a part of `outcomes`."""
FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
"""Characters that spreadsheets read as the start of a formula (OWASP, CSV injection)."""


def open_text(path: Path) -> IO[str]:
    """Open a UTF-8 file for writing; half a surrogate pair is written as its escape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def write_json(path: Path, content: object) -> None:
    """Write JSON that people can read too: two spaces of indentation, infinities as strings."""
    with open_text(path) as file:
        file.write(json.dumps(portable(content), ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def csv_cells(values: Iterable[Any]) -> str:
    """Return values as cells of a CSV file (RFC 4180).

    Text that a spreadsheet would run as a formula gets an apostrophe before it.

    >>> print(csv_cells(["=1+1", -1.5, ["a"], None]))
    "'=1+1",-1.5,"[""a""]",
    """
    return ",".join(map(_cell, values))


def _cell(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return _quoted(value) if value[:1] in FORMULA or '"' in value else f'"{value}"'
    if value is None:
        return ""
    if kind is float or kind is int:
        return repr(value)
    # Most lists are empty.
    if not value and kind in _EMPTY:
        return _EMPTY[kind]
    return _quoted(written(value).decode())


_EMPTY = {list: '"[]"', dict: '"{}"'}


def _quoted(text: str) -> str:
    guard = "'" if text[:1] in FORMULA else ""
    return '"' + guard + text.replace('"', '""') + '"'


class ResultsWriter:
    """Writes the results of all evaluators of a run in one pass; use it as a context manager.

    Args:
        folders: evaluator id to the folder of its results.
        models: as the header describes them.
        descriptions: evaluator id to what the JSON says of it.
        has_parquet: whether they are written as Parquet, too.
    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        evaluators: Mapping[str, EvaluatorEntry],
        models: Mapping[str, ModelEntry],
        descriptions: Mapping[str, object],
        *,
        has_parquet: bool = False,
    ) -> None:
        self._has_parquet = has_parquet
        self._files = ExitStack()
        self._models = models
        self._requests: dict[str, ModelRequests] = {}
        self._descriptions = descriptions
        self._sheets = {
            id: _Sheet(evaluators[id], folder, self._files, has_parquet=has_parquet)
            for id, folder in folders.items()
        }

    @property
    def rows(self) -> dict[str, int]:
        """Evaluator id to the lines of its results."""
        return {id: sheet.rows for id, sheet in self._sheets.items()}

    @property
    def models(self) -> dict[str, JsonObject]:
        """Model key to its description, with the requests counted so far."""
        return {key: describe_model(entry, self._requests.get(key)) for key, entry in self._models.items()}

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        models = written(portable(list(self.models.values())))
        for id, sheet in self._sheets.items():
            sheet.close(models, written(portable(self._descriptions[id])))
        self._files.close()

    def add(self, item: Item) -> None:
        """Write the rows of one item into the files of the evaluators that have an outcome for them."""
        requests = self._requests.setdefault(item.model_key, ModelRequests())
        for row in item.rows:
            requests.add(row)
            if not row.outcomes:
                continue
            shared = _shared_cells(item, row, has_parquet=self._has_parquet)
            for id, outcome in row.outcomes.items():
                if id in self._sheets:
                    self._sheets[id].add(row, outcome, shared)


class _SharedCells(Struct, frozen=True):
    """Cells that the results of all evaluators have in common, encoded once.

    Attributes:
        entry: as JSON without its end.
        line: as CSV, with the comma after it.
        columns: for Parquet, b"" without it.
    """

    entry: bytes
    line: bytes
    columns: bytes


class _Sheet:
    """The results of one evaluator."""

    def __init__(self, info: EvaluatorEntry, folder: Path, files: ExitStack, *, has_parquet: bool) -> None:
        self.rows = 0
        self._info = info
        names = _metric_names(info)
        self._keys = list(names)
        self._names = list(names.values())
        self.json = files.enter_context(_open_bytes(folder / "application_json" / "explanation.json"))
        self.json.write(b'{"results": [')
        self._csv = files.enter_context(_open_bytes(folder / "text_csv" / "explanation.csv"))
        self._doubts = [UNCERTAIN] if info.calibration else []
        columns = [*_NAMES, *self._names, *self._doubts, "status", "reason", "result_error_message"]
        self._csv.write(_bytes(csv_cells(columns) + "\r\n"))
        self._parquet: parquet.ParquetSheet | None = None
        if has_parquet:
            kinds: dict[str, parquet.Kind] = {column.name: column.kind for column in _COLUMNS}
            kinds |= dict.fromkeys(self._doubts, "boolean")
            self._parquet = parquet.ParquetSheet(
                folder / parquet.FOLDER / "explanation.parquet",
                columns,
                kinds,
                self._names,
                shared=len(_COLUMNS),
            )
            files.callback(self._parquet.close)

    def add(self, row: RecordRow, outcome: Outcome, shared: _SharedCells) -> None:
        """Write one row."""
        values = [_portable(outcome.scores.get(key)) for key in self._keys]
        status, reason = outcome.status, outcome.reason
        fault = row.answer.error or (reason if status == "error" else "")
        calibrated = outcome.details.get("calibration", {})
        tail = {
            **dict(zip(self._names, values, strict=True)),
            "outcomes": {self._info.id: {"status": status, "reason": reason, **calibrated}},
            "result_error_message": fault,
            "actual_output_meta": _sentences(self._info, row, outcome) if outcome.fragments else [],
        }
        self.json.write(b"%s\n%s,%s" % (b"," if self.rows else b"", shared.entry, written(tail)[1:]))
        cells = (*values, *map(calibrated.get, self._doubts), status, reason, fault)
        self._csv.write(shared.line + _bytes(f"{csv_cells(cells)}\r\n"))
        if self._parquet is not None:
            self._parquet.add(shared.columns, cells)
        self.rows += 1

    def close(self, models: bytes, description: bytes) -> None:
        """Write what follows the rows."""
        self.json.write(b'\n],\n"models": %s,\n"evaluator": %s\n}\n' % (models, description))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _open_bytes(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "wb", buffering=1 << 18)


class _Column(NamedTuple):
    """Column that the results of all evaluators have.

    Attributes:
        kind: of its values in a typed table; "nested" is JSON of parts that have no common type.
        value: returns the cell of a row.
    """

    name: str
    kind: parquet.Kind
    value: Callable[[Item, RecordRow], object]


def _row_key(item: Item, _row: RecordRow) -> str:
    key, model = item.key, item.model_key
    return key if key.endswith(f"_{model}") else f"{key}_{model}"


def _links(_item: Item, row: RecordRow) -> list[JsonObject]:
    return [
        {"type": link.type, "target": link.target, "target_type": link.target_type}
        for link in row.relationships
    ]


def _files(row: RecordRow, *, images: bool) -> list[str]:
    return [each.name for each in row.attachments if (each.media_type in IMAGE_TYPES) == images]


def _expected_calls(_item: Item, row: RecordRow) -> bytes | None:
    if row.expected_tool_calls is None:
        return None
    return written([call.to_dict() for call in row.expected_tool_calls])


def _fact_columns() -> Iterator[_Column]:
    """Yield the columns of what the service reports with an answer."""
    types = get_type_hints(Answer)
    for name, fact in reported_facts(Answer).items():
        if fact.is_column:
            yield _Column(name, _KINDS[types[name]], _fact_of(name))


def _fact_of(name: str) -> Callable[[Item, RecordRow], object]:
    of_answer = operator.attrgetter(name)
    return lambda item, row: of_answer(row.answer)


_COLUMNS = (
    _Column("key", "text", _row_key),
    _Column("test_key", "text", lambda item, row: item.test_key),
    _Column("test_case_key", "text", lambda item, row: item.key),
    _Column("model_key", "text", lambda item, row: item.model_key),
    _Column("file", "text", lambda item, row: item.file),
    _Column("nodeid", "text", lambda item, row: item.nodeid),
    _Column("verdict", "text", lambda item, row: item.verdict),
    _Column("run", "integer", lambda item, row: row.run),
    _Column("input", "text", lambda item, row: row.question),
    _Column("corpus", "texts", lambda item, row: list(row.corpus)),
    _Column("context", "texts", lambda item, row: list(row.answer.context)),
    _Column("context_sources", "texts", lambda item, row: list(row.answer.context_sources)),
    _Column("categories", "texts", lambda item, row: list(row.categories)),
    _Column("relationships", "links", _links),
    _Column("expected_output", "text", lambda item, row: row.expected_output),
    _Column("accepted_outputs", "texts", lambda item, row: list(row.accepted_outputs)),
    _Column("output_condition", "text", lambda item, row: row.condition),
    _Column("actual_output", "text", lambda item, row: row.answer.text),
    _Column("condition_on", "text", lambda item, row: row.condition_on),
    _Column("expects", "text", lambda item, row: row.expects),
    _Column("images", "texts", lambda item, row: _files(row, images=True)),
    _Column("files", "texts", lambda item, row: _files(row, images=False)),
    _Column("actual_duration", "number", lambda item, row: row.answer.duration_s),
    _Column("cost", "number", lambda item, row: row.answer.cost_usd),
    _Column("usage", "counts", lambda item, row: row.answer.usage),
    _Column("retries", "integer", lambda item, row: row.answer.retries),
    _Column("tool_calls", "nested", lambda item, row: _calls_json(row.answer.tool_calls)),
    _Column("expected_tool_calls", "nested", _expected_calls),
    _Column("steps", "nested", lambda item, row: written([step.to_dict() for step in row.answer.steps])),
    _Column("turns", "nested", lambda item, row: written([_turn(turn) for turn in row.answer.turns])),
    _Column("ended_by", "text", lambda item, row: row.answer.ended_by),
    *_fact_columns(),
)
_NAMES = tuple(column.name for column in _COLUMNS)
_NESTED = tuple(index for index, column in enumerate(_COLUMNS) if column.kind == "nested")


def _shared_cells(item: Item, row: RecordRow, *, has_parquet: bool) -> _SharedCells:
    """Encode the cells of a row; nested ones, by far the longest, once for all files."""
    values = [column.value(item, row) for column in _COLUMNS]
    try:
        entry = orjson.dumps(dict(zip(_NAMES, _with_nested(values, orjson.Fragment), strict=True)))
    except orjson.JSONEncodeError:  # half a surrogate pair, or an integer of more than 64 bits
        entry = written(dict(zip(_NAMES, _with_nested(values, json.loads), strict=True)))
    texts = _with_nested(values, bytes.decode)
    return _SharedCells(
        entry=entry[:-1],
        line=_bytes(csv_cells(texts) + ","),
        columns=parquet.shared_columns(_NAMES, texts) if has_parquet else b"",
    )


def _with_nested(values: Sequence[object], form: Callable[[bytes], object]) -> list[object]:
    """Return cells with the nested ones in another form."""
    cells = list(values)
    for index in _NESTED:
        data = cells[index]
        if isinstance(data, bytes):
            cells[index] = form(data)
    return cells


def _calls_json(calls: Sequence[ToolCall]) -> bytes:
    """Return calls as JSON, as `ToolCall.to_dict` has them."""
    # Without empty arguments and results msgspec leaves out the same fields, and needs no dicts.
    if all(call.arguments and call.result != "" for call in calls):
        try:
            return msgspec.json.encode(calls)
        except UnicodeEncodeError:  # half a surrogate pair
            pass
    return written([call.to_dict() for call in calls])


def _turn(turn: Exchange) -> JsonObject:
    return {
        "prompt": turn.prompt,
        **non_empty(attachments=[each.name for each in turn.attachments]),
        "actual_output": turn.answer.text,
        "tool_calls": [call.to_dict() for call in turn.answer.tool_calls],
        "error": turn.answer.error,
    }


def _portable(value: float | None) -> float | str | None:
    """Return a score as exports hold it: an infinity as a word."""
    if value is None or math.isfinite(value):
        return value
    return "Infinity" if value > 0 else "-Infinity"


def _metric_names(info: EvaluatorEntry) -> dict[str, str]:
    """Return the export name of each metric; a name already in use is prefixed with the evaluator's id."""
    names_used = {*_NAMES, *OF_EVALUATOR}
    if info.calibration:
        names_used.add(UNCERTAIN)
    return {
        metric.key: f"{info.id}.{metric.key}" if metric.key in names_used else metric.key
        for metric in info.metrics
    }


def _sentences(info: EvaluatorEntry, row: RecordRow, outcome: Outcome) -> list[dict[str, object]]:
    parts = segments(row.answer.text, outcome.fragments, info.sentence_metric)
    data = [
        {
            "text": part.text,
            "metrics": dict(part.scores or {}),
            "meta": {"error_message": part.message} if part.message else {},
        }
        for part in parts
    ]
    scored = any(part.scores for part in parts)
    return [{"tokenization": "sentence_level" if scored else "fragment_level", "data": data}]
