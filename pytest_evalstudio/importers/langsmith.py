"""Data sets of LangSmith: examples as the client returns them, or as the export writes them.

Source: https://docs.smith.langchain.com/evaluation
"""

from __future__ import annotations

from pytest_evalstudio.core.json_data import Json
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
    texts_of,
    with_structures,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.contexts import context_fields
from pytest_evalstudio.importers.references import outputs_of
from pytest_evalstudio.importers.replies import calls_in, messages_of, reply_of

_CONTEXTS = ("context", "contexts", "documents", "retrieved_contexts")
_KNOWN = {
    *(
        "id",
        "inputs",
        "outputs",
        "metadata",
        "dataset_id",
        "created_at",
        "modified_at",
        "source_run_id",
        "split",
    ),
    *("dataset_name", "attachments", "runs"),
}


def read(source: Source) -> Imported:
    """Convert examples to questions; outputs of an example are the expected answer."""
    return convert_records(source, records(source, "examples"), _row)


def _row(record: Record, imported: Imported) -> Fields | None:
    value, omissions = with_structures(record, "inputs", "outputs", "metadata"), imported.omissions
    inputs: Json = value.get("inputs")
    question_text = (
        {name: item for name, item in inputs.items() if name not in _CONTEXTS}
        if isinstance(inputs, dict)
        else inputs
    )
    question, turns = question_of(record, question_text, omissions, "inputs")
    if value.get("attachments"):
        omissions.add("attachments", "only texts are imported")
    omissions.keys(value, _KNOWN, "key", "no evaluator reads it")
    details = value.get("metadata")
    split = value.get("split") or (details.get("dataset_split") if isinstance(details, dict) else None)
    context = (
        next((inputs[name] for name in _CONTEXTS if name in inputs), None)
        if isinstance(inputs, dict)
        else None
    )
    outputs = value.get("outputs")
    for _ in calls_in(messages_of(outputs), omissions):
        omissions.add(
            "call of a tool in the outputs", "write the calls that you expect as expected_tool_calls"
        )
    return {
        "key": key_of(value.get("id")),
        "input": question,
        "conversation": turns,
        "expected_output": outputs_of(reply_of(outputs, omissions), omissions),
        **context_fields(context, omissions),
        "categories": texts_of(split),
        METADATA: metadata(record, "metadata").get("metadata"),
    }
