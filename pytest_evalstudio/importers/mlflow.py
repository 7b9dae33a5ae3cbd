"""Evaluation data sets, tables and traces of MLflow: rows with inputs, outputs and expectations, or a trace.

Source: https://mlflow.org/docs/latest/genai/datasets/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pytest_evalstudio.core.json_data import Json, non_empty
from pytest_evalstudio.formats.foreign import is_column_table
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    items_of,
    mapping_of,
    metadata,
    question_of,
    records,
    text_of,
    texts_of,
    with_structures,
)
from pytest_evalstudio.formats.source import Source, pointer
from pytest_evalstudio.importers.mlflow_trace import MlflowTrace
from pytest_evalstudio.importers.references import outputs_of
from pytest_evalstudio.importers.replies import reply_of
from pytest_evalstudio.text.unicode import valid_json

_KNOWN = {
    *(
        "inputs",
        "outputs",
        "expectations",
        "trace",
        "tags",
        "source",
        "dataset_record_id",
        "dataset_id",
        "request_id",
    ),
    *(
        "created_time",
        "last_update_time",
        "created_by",
        "last_updated_by",
        "source_id",
        "source_type",
        "assessments",
    ),
    *("request", "response", "retrieved_context", "trace_id", "latency", "token_count"),
}
_EXPECTATIONS = {
    *("expected_response", "expected_facts", "guidelines", "expected_retrieved_context", "expected_output"),
    *("expected_documents",),
}


_IDS = ("dataset_record_id", "request_id", "trace_id")
_STRUCTURES = ("inputs", "outputs", "expectations", "tags", "request", "response", "retrieved_context")
_SCORE_ENDINGS = ("/score", "/justification", "/value", "/rationale", "/error_message")
_COLUMNS = {
    **dict.fromkeys(("question", "prompt", "input", "query"), "inputs"),
    **dict.fromkeys(("prediction", "predictions", "output", "answer"), "outputs"),
    **dict.fromkeys(("target", "targets", "ground_truth", "expected"), "expected_output"),
}
"""Columns of evaluation tables, as users of `mlflow.evaluate` name them, to the keys of records."""


def read(source: Source) -> Imported:
    """Convert records to questions, with answers and documents from the record or its trace."""
    data = source.data
    if is_column_table(data):
        return convert_records(source, _rows_of(source), _row, "data")
    values = [data] if _is_trace(data) else records(source, "records", "traces")
    return convert_records(source, values, _row)


def _rows_of(source: Source) -> list[Json]:
    """Return the rows of an evaluation table, with the keys of records.

    Raises:
        DataError: if a row has another number of values than there are columns.
    """
    columns = [_COLUMNS.get(str(name), str(name)) for name in source.data["columns"]]
    rows: list[Json] = []
    for index, values in enumerate(source.data["data"]):
        if len(values) != len(columns):
            raise source.error(
                pointer("data", index), f"has {len(values)} values for {len(columns)} columns; complete it"
            )
        rows.append(dict(zip(columns, values, strict=True)))
    return rows


def _is_trace(value: Json) -> bool:
    return isinstance(value, dict) and "info" in value and "data" in value


def _row(record: Record, imported: Imported) -> Fields | None:
    value = with_structures(record, *_STRUCTURES)
    omissions = imported.omissions
    held = value.get("trace")
    # A record holds its trace, or is one.
    trace: Mapping[str, Json] | None = None
    if held:
        trace = _parsed(record, held)
    elif _is_trace(dict(value)):
        trace = dict(value)
    content = MlflowTrace(trace or {})
    root, documents = content.root, content.documents
    inputs = value.get("inputs") or value.get("request") or root.get("mlflow.spanInputs")
    outputs = value.get("outputs") or value.get("response") or root.get("mlflow.spanOutputs")
    question, turns = question_of(record, _unwrapped(inputs), omissions, "inputs")
    expectations = {name: value[name] for name in _EXPECTATIONS if value.get(name)}
    expected = value.get("expectations") or expectations or content.expectations()
    if not isinstance(expected, dict):
        raise record.error("expected an object of expectations", "expectations")
    omissions.keys(expected, _EXPECTATIONS, "expectation", "no evaluator reads it")
    if not _is_trace(dict(value)):
        scores = {name for name in value if name.endswith(_SCORE_ENDINGS)}
        if scores:
            omissions.add("scores of metrics", "evaluators score the answers anew")
        omissions.keys(value, _KNOWN | _EXPECTATIONS | scores, "key", "no evaluator reads it")
    return {
        "key": str(next((value[name] for name in _IDS if value.get(name)), content.id)),
        "input": question,
        "conversation": turns,
        "actual_output": text_of(reply_of(outputs, omissions), omissions),
        "actual_duration": value.get("latency") or content.duration_s,
        "context": [content for content, _ in documents],
        "context_sources": [uri for _, uri in documents] if any(uri for _, uri in documents) else [],
        "expected_output": outputs_of(
            expected.get("expected_response") or expected.get("expected_output"), omissions
        ),
        "expected_facts": texts_of(expected.get("expected_facts")),
        "guidelines": texts_of(expected.get("guidelines")),
        "expected_documents": list(_uris(expected.get("expected_retrieved_context"))),
        "expected_chunks": list(_contents(expected.get("expected_retrieved_context"))),
        "tool_calls": content.calls(omissions),
        "usage": content.usage,
        "session": content.session,
        "served_model": content.model,
        METADATA: {
            **mapping_of(metadata(record, "tags").get("tags")),
            **non_empty(feedback=content.feedback()),
        }
        or None,
    }


def _parsed(record: Record, trace: Json) -> Mapping[str, Json]:
    if isinstance(trace, str):
        try:
            trace = json.loads(valid_json(trace))
        except (ValueError, RecursionError):
            raise record.error("is not the JSON of a trace", "trace") from None
    if not isinstance(trace, dict):
        raise record.error("expected a trace", "trace")
    return trace


def _uris(value: Json) -> Iterator[str]:
    for item in value if isinstance(value, list) else []:
        uri = item.get("doc_uri") if isinstance(item, dict) else item
        if isinstance(uri, str) and uri:
            yield uri


def _contents(value: Json) -> Iterator[str]:
    for item in map(mapping_of, items_of(value)):
        content = item.get("content")
        if isinstance(content, str) and content.strip():
            yield content


def _unwrapped(inputs: Json) -> Json:
    """Return the only argument of a traced function, where it is not a text itself."""
    if isinstance(inputs, dict) and len(inputs) == 1:
        (only,) = inputs.values()
        if isinstance(only, dict | list):
            return only
    return inputs
