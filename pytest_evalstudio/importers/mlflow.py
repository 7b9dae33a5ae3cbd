"""Evaluation data sets, tables and traces of MLflow: rows with inputs, outputs and expectations, or a trace.

Source: https://mlflow.org/docs/latest/genai/datasets/
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping

from pytest_evalstudio.formats.foreign import is_column_table
from pytest_evalstudio.formats.source import Source, pointer
from pytest_evalstudio.importers.common import (
    METADATA,
    Fields,
    Imported,
    Json,
    Record,
    convert_records,
    items_of,
    mapping_of,
    metadata,
    outputs_of,
    question_of,
    records,
    text_of,
    texts_of,
    with_structures,
)
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
    trace = _parsed(record, held) if held else dict(value) if _is_trace(dict(value)) else None
    root, documents = _spans(trace) if trace else ({}, [])
    inputs = value.get("inputs") or value.get("request") or root.get("mlflow.spanInputs")
    outputs = value.get("outputs") or value.get("response") or root.get("mlflow.spanOutputs")
    question, turns = question_of(record, _unwrapped(inputs), omissions, "inputs")
    expectations = {name: value[name] for name in _EXPECTATIONS if value.get(name)}
    expected = value.get("expectations") or expectations or (_assessments(trace) if trace else {})
    if not isinstance(expected, dict):
        raise record.error("expected an object of expectations", "expectations")
    omissions.keys(expected, _EXPECTATIONS, "expectation", "no evaluator reads it")
    if not _is_trace(dict(value)):
        scores = {name for name in value if name.endswith(_SCORE_ENDINGS)}
        if scores:
            omissions.add("scores of metrics", "evaluators score the answers anew")
        omissions.keys(value, _KNOWN | _EXPECTATIONS | scores, "key", "no evaluator reads it")
    return {
        "key": str(value.get("dataset_record_id") or value.get("request_id") or value.get("trace_id") or ""),
        "input": question,
        "conversation": turns,
        "actual_output": text_of(_answer(outputs), omissions),
        "actual_duration": value.get("latency") or 0.0,
        "context": [content for content, _ in documents],
        "context_sources": [uri for _, uri in documents] if any(uri for _, uri in documents) else [],
        "expected_output": outputs_of(
            expected.get("expected_response") or expected.get("expected_output"), omissions
        ),
        "expected_facts": texts_of(expected.get("expected_facts")),
        "guidelines": texts_of(expected.get("guidelines")),
        "expected_documents": list(_uris(expected.get("expected_retrieved_context"))),
        "expected_chunks": list(_contents(expected.get("expected_retrieved_context"))),
        METADATA: metadata(record, "tags").get("tags"),
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


def _spans(trace: Mapping[str, Json]) -> tuple[dict[str, Json], list[tuple[str, str]]]:
    """Return the attributes of the root span, and the content and address of the last retrieved documents."""
    root: dict[str, Json] = {}
    documents: list[tuple[str, str]] = []
    for span in map(mapping_of, items_of(mapping_of(trace.get("data")).get("spans"))):
        attributes = _attributes(span)
        if not (span.get("parent_id") or span.get("parent_span_id")):
            root = attributes
        if attributes.get("mlflow.spanType") == "RETRIEVER":
            documents = list(_documents(attributes.get("mlflow.spanOutputs")))
    return root, documents


def _attributes(span: Mapping[str, Json]) -> dict[str, Json]:
    """Return the attributes of a span; their values are JSON in a text, in some versions without it."""
    values: dict[str, Json] = {}
    for name, value in mapping_of(span.get("attributes")).items():
        if isinstance(value, str):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(valid_json(value))
        values[name] = value
    return values


def _documents(outputs: Json) -> Iterator[tuple[str, str]]:
    for item in outputs if isinstance(outputs, list) else []:
        if isinstance(item, str):
            yield item, ""
        elif isinstance(item, dict):
            details = item.get("metadata")
            uri = details.get("doc_uri") or details.get("source") if isinstance(details, dict) else None
            yield (
                str(item.get("page_content") or item.get("content") or ""),
                str(uri or item.get("doc_uri") or ""),
            )


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


def _assessments(trace: Mapping[str, Json]) -> dict[str, Json]:
    """Return the expectations that people attached to a trace."""
    values: dict[str, Json] = {}
    for item in map(mapping_of, items_of(mapping_of(trace.get("info")).get("assessments"))):
        if "expectation" in item:
            name = str(item.get("assessment_name") or item.get("name"))
            values[name] = mapping_of(item["expectation"]).get("value")
    return values


def _unwrapped(inputs: Json) -> Json:
    """Return the only argument of a traced function, where it is not a text itself."""
    if isinstance(inputs, dict) and len(inputs) == 1:
        (only,) = inputs.values()
        if isinstance(only, dict | list):
            return only
    return inputs


def _answer(outputs: Json) -> Json:
    """Return the text of a chat completion or of the assistant's last message, else the outputs."""
    for choice in items_of(mapping_of(outputs).get("choices")):
        return mapping_of(mapping_of(choice).get("message")).get("content")
    messages = [*map(mapping_of, items_of(mapping_of(outputs).get("messages")))]
    for message in reversed(messages):
        if message.get("role", message.get("type", "assistant")) in ("assistant", "ai") and message.get(
            "content"
        ):
            return message.get("content")
    if messages:
        return messages[-1].get("content")
    return outputs
