"""Goldens and test cases of DeepEval, as `EvaluationDataset.save_as` writes them (JSON, JSON Lines, CSV).

Source: https://deepeval.com/docs/evaluation-datasets
"""

from __future__ import annotations

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    calls_of,
    convert_records,
    expected_calls_of,
    metadata,
    question_of,
    records,
    structure_of,
    text_of,
    texts_of,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.references import outputs_of

_KEPT = ("comments", "source_file", "additional_metadata", "scenario", "user_description", "metadata")
_KNOWN = {
    *("input", "actual_output", "expected_output", "context", "retrieval_context", "name", "tags"),
    *("turns", "expected_outcome", "tools_called", "expected_tools", *_KEPT),
}
_SEPARATOR = "|"
"""Between the chunks of a CSV cell, unless the file says otherwise."""


def read(source: Source) -> Imported:
    """Convert goldens to questions, and test cases to answers."""
    return convert_records(source, records(source, "goldens", "test_cases"), _row)


def _row(record: Record, imported: Imported) -> Fields | None:
    value = record.value
    omissions = imported.omissions
    if "scenario" in value and not value.get("turns"):
        omissions.add("scenario without turns", "nothing simulates a user here; write the questions out")
        return None
    messages = structure_of(value.get("turns"))
    question, turns = question_of(record, messages or value.get("input"), omissions, "input")
    omissions.keys(value, _KNOWN, "key", "no evaluator reads it")
    answer = value.get("actual_output")
    expected = value.get("expected_output") or value.get("expected_outcome")
    sources = value.get("source_file")
    return {
        "input": question,
        "conversation": turns,
        "key": value.get("name") or "",
        "actual_output": text_of(answer, omissions),
        "expected_output": outputs_of(expected, omissions),
        "context": _chunks(value.get("retrieval_context")),
        "expected_facts": [],
        "categories": texts_of(value.get("tags")),
        "tool_calls": calls_of(record, value.get("tools_called"), "tools_called", omissions),
        "expected_tool_calls": expected_calls_of(
            record, value.get("expected_tools"), "expected_tools", omissions
        ),
        "corpus": [],
        "expected_documents": [sources] if isinstance(sources, str) and sources else [],
        "expected_chunks": _chunks(value.get("context")),
        METADATA: metadata(record, *_KEPT) or None,
    }


def _chunks(value: Json) -> list[str]:
    value = structure_of(value)
    if isinstance(value, str):
        return [part for part in value.split(_SEPARATOR) if part]
    return [str(item) for item in value] if isinstance(value, list) else []
