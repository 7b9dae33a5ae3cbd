"""Data sets of Braintrust: records with input, expected, metadata and tags.

Source: https://www.braintrust.dev/docs/guides/datasets
"""

from __future__ import annotations

from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    key_of,
    metadata,
    question_of,
    records,
    text_of,
    texts_of,
    with_structures,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.references import outputs_of
from pytest_evalstudio.importers.replies import calls_in, messages_of, reply_of

_INTERNAL = {
    *(
        "_xact_id",
        "_pagination_key",
        "created",
        "dataset_id",
        "project_id",
        "org_id",
        "root_span_id",
        "span_id",
    ),
    *("is_root", "origin", "log_id", "experiment_id", "span_attributes", "span_parents", "metrics", "scores"),
}


def read(source: Source) -> Imported:
    """Convert records to questions, with answers where a record has an output (rows of an experiment)."""
    return convert_records(source, records(source, "rows", "events", "objects"), _row)


def _row(record: Record, imported: Imported) -> Fields | None:
    value = with_structures(record, "input", "output", "expected", "metadata")
    omissions = imported.omissions
    question, turns = question_of(record, value.get("input"), omissions, "input")
    if value.get("scores"):
        omissions.add("scores", "evaluators score the answers anew")
    omissions.keys(
        value,
        {*_INTERNAL, "id", "input", "output", "expected", "metadata", "tags"},
        "key",
        "no evaluator reads it",
    )
    output = value.get("output")
    return {
        "key": key_of(value.get("id")),
        "input": question,
        "conversation": turns,
        "actual_output": text_of(reply_of(output, omissions), omissions),
        "expected_output": outputs_of(reply_of(value.get("expected"), omissions), omissions),
        "tool_calls": list(calls_in(messages_of(output), omissions)),
        "categories": texts_of(value.get("tags")),
        METADATA: metadata(record, "metadata").get("metadata"),
    }
