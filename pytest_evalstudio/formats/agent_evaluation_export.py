"""Evaluation sets of Agent Evaluation, written from data sets, suites and labs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import DataError, unknown_name
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.csv_text import delimiter_for, write_csv
from pytest_evalstudio.formats.dataset import LlmDataset, Row, complete_row_keys
from pytest_evalstudio.formats.fields import FREE_KEY, encoded, write_json
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.formats.lab import TestLab, labels
from pytest_evalstudio.formats.source import CSV_SUFFIXES, JSON_SUFFIXES
from pytest_evalstudio.formats.suite import FURTHER_KEYS, OURS, TestSuite, complete_keys

LINES_SUFFIXES = (".jsonl", ".ndjson")
WRITTEN_SUFFIXES = (*JSON_SUFFIXES, *LINES_SUFFIXES, *CSV_SUFFIXES)
BY_NAME = "guidelines_by_name"
"""Key of a row that keeps the names which its guidelines had."""
_NO_PLACE = (
    "output_condition",
    "output_constraints",
    "condition_on",
    "expects",
    "expected_tool_calls",
    "expected_state",
    "retrieval",
    "turns",
    "user",
    "images",
    "files",
    "categories",
    "relationships",
    "corpus",
    "xfail",
    "skip",
    "evaluators",
)


def export_evaluation_set(
    content: TestSuite | TestLab | LlmDataset, model: str = ""
) -> list[dict[str, object]]:
    """Return the entries of an evaluation set.

    Entries of a suite have no response; entries of a lab or data set have one, unless their row is an error.

    Args:
        model: key or name of the model whose answers are written; required if there are several.

    Raises:
        DataError: if there are answers of several models and none is chosen.
        ConfigurationError: for an unknown model.
    """
    if isinstance(content, TestSuite):
        return [evaluation_entry(row, answered=False) for row in rows_of(content)]
    # Ids must be unique in a set, and repeats of a row share their key.
    unique = Numbered()
    return [{**evaluation_entry(row), "request_id": unique(row.key)} for row in rows_of(content, model)]


def rows_of(content: TestSuite | TestLab | LlmDataset, model: str = "") -> list[Row]:
    """Return the rows of one model, or the cases of a suite as rows without answers.

    Args:
        model: key or name of the model; required if there are several.

    Raises:
        DataError: if there are answers of several models and none is chosen.
        ConfigurationError: for an unknown model.
    """
    if isinstance(content, TestSuite):
        return _rows_of_suite(content)
    rows = content.dataset.inputs if isinstance(content, TestLab) else content.inputs
    names = labels(content.models) if isinstance(content, TestLab) else {}
    complete_row_keys(rows)
    return _of_model(rows, names, model)


def evaluation_entry(row: Row, *, answered: bool = True) -> dict[str, object]:
    """Return a row as an entry of an evaluation set, without the fields that it lacks.

    Args:
        answered: whether the row has an answer; a row in error has none.
    """
    turns = [turn.to_dict() for turn in row.conversation]
    chunks = itertools.zip_longest(row.context, row.context_sources, fillvalue="")
    more = dict(row.model_extra or {})
    # The opposite of `agent_evaluation._free_keys`, so that a set which becomes a suite keeps its keys.
    metadata = more.get(FREE_KEY)
    if isinstance(metadata, dict) and isinstance(further := metadata.get(FURTHER_KEYS), dict):
        rest = {name: value for name, value in metadata.items() if name != FURTHER_KEYS}
        more = {name: value for name, value in more.items() if name != FREE_KEY} | further
        more |= {FREE_KEY: rest} if rest else {}
    named = more.pop(BY_NAME, None)
    # Guidelines that were edited since no longer belong to the names.
    is_named = isinstance(named, dict) and flat_guidelines(named) == row.guidelines
    guidelines = named if is_named else row.guidelines
    entry = {
        "request_id": row.key,
        "request": {"messages": [*turns, {"role": "user", "content": row.input}]} if turns else row.input,
        "response": row.actual_output if answered and not row.error else None,
        "expected_response": row.expected_output or None,
        "expected_facts": row.expected_facts or None,
        "retrieved_context": [_chunk(content, uri) for content, uri in chunks] or None,
        "expected_retrieved_context": expected_context(row) or None,
        "guidelines": guidelines or None,
    }
    return {name: value for name, value in entry.items() if value is not None} | more


def expected_context(row: Row) -> list[dict[str, str]]:
    """Return the expected documents and chunks of a row; as many of both are pairs."""
    documents, chunks = row.expected_documents, row.expected_chunks
    if len(documents) == len(chunks):
        pairs = zip(documents, chunks, strict=True)
        return [{"content": chunk, "doc_uri": uri} for uri, chunk in pairs]
    return [*({"doc_uri": uri} for uri in documents), *({"content": chunk} for chunk in chunks)]


def without_a_place(content: TestSuite | TestLab | LlmDataset) -> list[str]:
    """Return the keys with content that evaluation sets do not support."""
    if isinstance(content, TestSuite):
        rows = _rows_of_suite(content)
    elif isinstance(content, TestLab):
        rows = content.dataset.inputs
    else:
        rows = content.inputs
    return lost_fields(content, rows, _NO_PLACE)


def lost_fields(
    content: TestSuite | TestLab | LlmDataset, rows: Sequence[Row], names: Iterable[str]
) -> list[str]:
    """Return those fields of rows that have content, by the names that a user writes.

    Args:
        content: what the rows were made of; the rows of a suite lack the turns of its cases.
    """
    has_turns = isinstance(content, TestSuite) and any(case.turns for _, case in content.cases())
    return [
        name.removeprefix("output_")
        for name in names
        if (name == "turns" and has_turns) or any(_has_content(row, name) for row in rows)
    ]


def _has_content(row: Row, name: str) -> bool:
    value = getattr(row, name)
    # No expected calls say that no tool may be called.
    return value is not None if name == "expected_tool_calls" else bool(value)


def write_evaluation_set(path: str | Path, entries: Sequence[Mapping[str, object]]) -> None:
    """Write entries as JSON, or as JSON Lines or CSV where the name ends so."""
    records = [dict(entry) for entry in entries]
    suffix = Path(path).suffix.lower()
    if suffix in CSV_SUFFIXES:
        write_whole(path, write_csv(records, delimiter_for(path)).encode("utf-8", "replace"))
    elif suffix in LINES_SUFFIXES:
        lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records)
        write_whole(path, encoded("".join(f"{line}\n" for line in lines)))
    else:
        write_json(path, records)


def flat_guidelines(named: Mapping[str, Any]) -> list[str]:
    """Return the guidelines of all names as one list."""
    return [
        text
        for texts_of_key in named.values()
        for text in ([texts_of_key] if isinstance(texts_of_key, str) else texts_of_key)
    ]


def _of_model(rows: Sequence[Row], names: Mapping[str, str], model: str) -> list[Row]:
    keys = list(dict.fromkeys(row.model_key for row in rows))
    model_labels = [name for key in keys for name in dict.fromkeys((names.get(key, key), key))]
    if model and model not in model_labels:
        raise unknown_name("model", model, model_labels, f"Here are: {', '.join(model_labels)}.")
    if not model and len(keys) > 1:
        listed = ", ".join(names.get(key, key) for key in keys)
        raise DataError(
            f"holds answers of {len(keys)} models, and an evaluation set can only hold one model:"
            f" choose one of {listed}"
        )
    return [row for row in rows if not model or model in (row.model_key, names.get(row.model_key))]


def _rows_of_suite(suite: TestSuite) -> list[Row]:
    complete_keys(suite)
    return [
        Row(
            key=case.key,
            input=case.prompt,
            corpus=test.documents,
            categories=list(dict.fromkeys((*case.categories, *test.categories, *suite.categories))),
            relationships=case.relationships,
            expected_output=case.expected_output,
            output_condition=case.condition,
            output_constraints=case.constraints,
            **{name: getattr(case, name) for name in OURS},
            **{"pass": case.policy or suite.policy},
            **(case.model_extra or {}),
        )
        for test, case in suite.cases()
    ]


def _chunk(content: str, uri: str) -> dict[str, str]:
    return {**non_empty(doc_uri=uri), "content": content}
