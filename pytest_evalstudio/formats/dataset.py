"""LLM data sets: rows of question, answer and context, as JSON, CSV or a pandas frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, model_validator

from pytest_evalstudio.core.columns import check_columns
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.expected import Expected
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.names import meaning_of, nearest_name
from pytest_evalstudio.core.numbers import MAX_RUN
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.attachments import attached_paths, check_attachments
from pytest_evalstudio.formats.conversations import (
    AnsweredTurns,
    EndedBy,
    with_opening,
)
from pytest_evalstudio.formats.csv_text import delimiter_for, flat_cells, nested_cells, write_csv
from pytest_evalstudio.formats.fields import (
    FREE_KEY,
    FREE_PREFIX,
    Constraints,
    FormatModel,
    Key,
    Text,
    Texts,
    is_unknown,
    spoken,
    validate,
    write_json,
)
from pytest_evalstudio.formats.json_rows import PackedRows
from pytest_evalstudio.formats.keys import Numbered, derived_key
from pytest_evalstudio.formats.kinds import load_kind
from pytest_evalstudio.formats.messages import with_messages
from pytest_evalstudio.formats.shared_keys import AnswerKeys
from pytest_evalstudio.formats.source import CSV_SUFFIXES, Source, pointer
from pytest_evalstudio.formats.suite import (
    OURS,
    WRITTEN_KEYS,
    CaseKeys,
    check_condition,
    effective_condition,
)
from pytest_evalstudio.formats.tool_calls import (
    with_steps,
)
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import pandas as pd

UNREAD_KEYS = 10
"""Keys in a warning."""
MISSPELT = 0.85
"""Similarity from which on the key of a row, which other tools write too, counts as misspelt."""


class Row(AnswerKeys, CaseKeys):
    """One answer of one model to one question, with its data.

    A key `messages` is read as question, answer and tool calls, or as turns; see `formats.messages`.

    Attributes:
        run: repeat number, 1 for the first.
        turns: turns of a conversation, each with its answer in the keys of a row; `actual_output` is then the
            last answer, and calls, tokens, seconds and cost are those of all turns.
        ended_by: reason for the end of a conversation, see `core.cases.EndOfConversation`.
        closing_messages: messages of the user after the answer; nothing answers them.
    """

    optional_keys: ClassVar[frozenset[str]] = AnswerKeys.optional_keys | {
        *("output_constraints", "run", "policy", "turns", "ended_by", "closing_messages"),
        *OURS,
    }
    first_keys: ClassVar[tuple[str, ...]] = (
        *("key", "test_key", "input", "corpus", "context", "categories", "relationships"),
        *("expected_output", "accepted_outputs", "output_condition", "output_constraints"),
        *("actual_output", "actual_duration", "cost", "model_key"),
    )

    test_key: Key = ""
    input: Text = ""
    corpus: Texts = Field(default_factory=list)
    output_condition: Text = ""
    output_constraints: Constraints = Field(default_factory=list)
    model_key: Key = ""
    run: Annotated[int | None, Field(ge=1, le=MAX_RUN)] = None
    turns: AnsweredTurns = Field(default_factory=list)
    ended_by: EndedBy = ""
    closing_messages: Texts = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _results_row(cls, data: object) -> object:
        """Use `test_case_key` as the key where a results file has a compound `key`."""
        if isinstance(data, dict) and data.get("test_case_key"):
            data = {**data, "key": data["test_case_key"]}
            del data["test_case_key"]
        if isinstance(data, dict):
            data = with_messages(data)
        return with_opening(with_steps(data), "input")

    def condition_text(self) -> str:
        """Return the condition, else the constraints as a condition, else ""."""
        return effective_condition(self.output_condition, self.output_constraints)


def row_expectations(expected: Expected) -> dict[str, Any]:
    """Return expectations by the names that a row has for them."""
    fields = expected.expectations
    fields["output_condition"] = fields.pop("condition")
    return fields


class LlmDataset(FormatModel):
    """Rows, each one answer of one model.

    >>> dataset = LlmDataset()
    >>> dataset.add_input("What is the target?", actual_output="default payment").model_key
    ''
    """

    inputs: list[Row] = Field(default_factory=list)

    def add_input(self, input: str = "", *, i: str = "", **fields: object) -> Row:
        """Add a row.

        Args:
            input: the question.
            i: the same, by the name in the documents of H2O Eval Studio.
            fields: those of Row.

        Raises:
            ConfigurationError: if the question is given by both names.
        """
        if input and i:
            raise ConfigurationError("add_input: `i` and `input` are the same; give one of them")
        row = Row(input=input or i, **fields)
        self.inputs.append(row)
        return row

    @classmethod
    def load(cls, path: str | Path) -> LlmDataset:
        """Read a data set from JSON, YAML or CSV.

        Raises:
            DataError: for the first thing that is wrong with it.
        """
        return load_kind(path, "dataset", read_dataset)

    def save(self, path: str | Path) -> None:
        """Write the data set as CSV if the name ends in `.csv` or `.tsv`, else as JSON.

        In CSV, a lone surrogate becomes "?".
        """
        complete_row_keys(self.inputs)
        if Path(path).suffix.lower() in CSV_SUFFIXES:
            text = write_csv([row.to_dict() for row in self.inputs], delimiter_for(path))
            write_whole(path, text.encode("utf-8", "replace"))
        else:
            write_json(path, self.to_dict())

    def to_csv(self) -> str:
        """Return CSV text; list columns hold JSON."""
        return write_csv([row.to_dict() for row in self.inputs])

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per answer; list columns hold JSON."""
        pd = import_extra("pandas", "a data frame", extra="")

        return pd.DataFrame([flat_cells(row.to_dict()) for row in self.inputs])

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> LlmDataset:
        """Make a data set from a pandas frame with the columns of a row; NaN, NaT and NA count as absent.

        Raises:
            DataError: if it has no column `input`, a column twice, or a cell that does not fit its column.
        """
        pd = import_extra("pandas", "a data frame", extra="")

        def present(record: dict[Hashable, object]) -> dict[str, object]:
            return {
                str(name): value
                for name, value in record.items()
                # `isna` of a list gives an array, whose truth is ambiguous.
                if not (pd.api.types.is_scalar(value) and pd.isna(value))
            }

        columns = list(map(str, frame.columns))
        check_columns(columns, "frame")
        if not {"input", "messages"} & set(columns):
            meant = meaning_of("input", columns) or next(
                (name for name in columns if meaning_of(name, ("input",))), ""
            )
            hint = (
                f"; rename {meant!r}, e.g. by frame.rename(columns={{{meant!r}: 'input'}})" if meant else ""
            )
            raise DataError(
                f"has no column 'input'{hint}; its columns are {', '.join(columns)}", source="frame"
            )
        records = [present(record) for record in frame.to_dict("records")]
        source = Source(name="frame", text="", data={"inputs": [nested_cells(record) for record in records]})
        dataset, errors = read_dataset(source)
        if errors:
            raise errors[0]
        return dataset


def read_dataset(source: Source) -> tuple[LlmDataset, list[DataError]]:
    """Read a data set from a parsed file; a faulty row does not affect the others.

    Raises:
        DataError: if the file as a whole is not a data set.
    """
    head = validate(
        LlmDataset, {name: value for name, value in source.data.items() if name != "inputs"}, source
    )
    rows, errors = read_rows(source, source.data.get("inputs"), ("inputs",))
    head.inputs = list(rows.values())
    return head, errors


def read_rows(source: Source, data: object, at: tuple[object, ...]) -> tuple[dict[int, Row], list[DataError]]:
    """Read the rows at a pointer of a parsed file, with keys completed.

    Returns the valid rows by their index, and an error for each other row.
    """
    if not isinstance(data, list | PackedRows):
        raise source.error(pointer(*at), "expected a list of rows")
    rows: dict[int, Row] = {}
    errors: list[DataError] = []
    texts: dict[str, str] = {}
    unread: Counter[str] = Counter()
    # Drained: the raw rows and the validated ones together would take twice the memory.
    for index, item in enumerate(data.drained() if isinstance(data, PackedRows) else data):
        try:
            row = validate(Row, item, source, *at, index)
            check_condition(
                source,
                row.output_condition,
                row.output_constraints,
                (*at, index),
                "output_condition",
                "output_constraints",
            )
            check_attachments(source, row, *at, index)
            for number, turn in enumerate(row.turns):
                check_attachments(source, turn, *at, index, "turns", number)
        except DataError as exc:
            errors.append(exc)
            continue
        # The rows of several models have the same question, and most often the same context.
        row.input = texts.setdefault(row.input, row.input)
        row.expected_output = texts.setdefault(row.expected_output, row.expected_output)
        row.output_condition = texts.setdefault(row.output_condition, row.output_condition)
        row.context = [texts.setdefault(text, text) for text in row.context]
        rows[index] = row
        unread.update(name for name in row.model_extra or () if is_unknown(name, (), WRITTEN_KEYS))
    source.warnings += _unread_keys(unread, f"{source.name} {pointer(*at)}")
    # Before the checks below, which compare keys.
    complete_row_keys(list(rows.values()))
    source.warnings += _dangling(rows, f"{source.name} {pointer(*at)}")
    unique = _unique(source, rows, at, errors)
    # The raw rows are read after those of `dataset`, whose lines they would replace.
    if at[0] != "raw_dataset" and (lines := _lines(source, data, at)):
        source.lines = {(row.key, row.model_key, row.run or 1): lines[index] for index, row in unique.items()}
    return unique, errors


def _unread_keys(counts: Mapping[str, int], location: str) -> list[str]:
    """Return a warning that names the keys of rows which nothing reads."""
    if not counts:
        return []
    names = [field.alias or name for name, field in Row.model_fields.items()]
    shown = [
        f"{name!r} ({counted(count, 'row')}{f', did you mean {near!r}?' if near else ''})"
        for name, count in counts.items()
        for near in [nearest_name(name, names, cutoff=MISSPELT)]
    ]
    more = f" and {len(shown) - UNREAD_KEYS} more" if len(shown) > UNREAD_KEYS else ""
    return [
        f"{location}: nothing reads the keys {', '.join(shown[:UNREAD_KEYS])}{more}; keys of your own begin"
        f" with {FREE_PREFIX!r} or are below {FREE_KEY!r}"
    ]


def _lines(source: Source, data: Sequence[object], at: tuple[object, ...]) -> Sequence[int]:
    """Return the line of each row, nothing where the text has no places."""
    if isinstance(data, PackedRows):
        return data.lines
    lines = source.element_lines(*map(str, at), "*")
    return [lines[pointer(*at, index)] for index in range(len(data))] if lines else ()


def _dangling(rows: dict[int, Row], location: str) -> list[str]:
    """Return a warning for each relationship to a missing case; such a row can still be evaluated."""
    keys = {row.key for row in rows.values()}
    return [
        f"{location}/{index}/relationships/{number}/target: no row has the key {link.target!r}; no flip will"
        " be looked for"
        for index, row in rows.items()
        for number, link in enumerate(row.relationships)
        if link.target_type == "test_case" and link.target not in keys
    ]


def _unique(
    source: Source, rows: dict[int, Row], at: tuple[object, ...], errors: list[DataError]
) -> dict[int, Row]:
    positions: dict[tuple[str, str, int], int] = {}
    unique = {}
    for index, row in rows.items():
        identity = (row.key, row.model_key, row.run or 1)
        if identity in positions:
            earlier = pointer(*at, positions[identity])
            message = (
                f"{row.key!r} of model {row.model_key!r} is already used by {earlier}; (key, model_key, run)"
                " must be unique, number repeats by `run`"
            )
            errors.append(source.error(pointer(*at, index, "key"), message))
            continue
        positions[identity] = index
        unique[index] = row
    return unique


def complete_row_keys(rows: list[Row]) -> None:
    """Give every row without a key one that is derived from the question.

    The key is the same for every model and in every run.
    """
    used_keys: dict[str, set[str]] = {}
    for row in rows:
        used_keys.setdefault(row.model_key, set()).add(row.key)
    numbered: dict[tuple[str, int], Numbered] = {}
    for row in rows:
        if not row.key:
            key = derived_key(
                row.input,
                row.expected_output,
                row.condition_text(),
                row.corpus,
                *spoken(row.conversation),
                *attached_paths(row.images, row.files),
            )
            row.key = numbered.setdefault((row.model_key, row.run or 1), Numbered(used_keys[row.model_key]))(
                key
            )
