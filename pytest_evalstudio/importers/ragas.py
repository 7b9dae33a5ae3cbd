"""Evaluation data sets and test sets of Ragas, as `to_jsonl` and `to_csv` write them.

Source: https://docs.ragas.io/en/stable/concepts/components/eval_dataset/
"""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Omissions,
    Record,
    calls_of,
    convert_records,
    expected_calls_of,
    items_of,
    metadata,
    question_of,
    records,
    structure_of,
    text_of,
    texts_of,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.contexts import context_fields
from pytest_evalstudio.importers.references import outputs_of

_KEPT = ("rubrics", "persona_name", "query_style", "query_length", "synthesizer_name")
_KNOWN = {
    *(
        "user_input",
        "retrieved_contexts",
        "response",
        "reference",
        "question",
        "answer",
        "contexts",
        "ground_truth",
    ),
    *(
        "retrieved_context_ids",
        "reference_context_ids",
        "reference_contexts",
        "reference_topics",
        "reference_tool_calls",
        *_KEPT,
    ),
}


def read(source: Source) -> Imported:
    """Convert samples to questions, with answers where the data set has responses.

    Files of Ragas before 0.2 name the columns question, answer, contexts, ground_truth.
    """
    return convert_records(source, records(source, "samples"), _row)


def _row(record: Record, imported: Imported) -> Fields | None:
    value = record.value
    omissions = imported.omissions
    question_text = value.get("user_input", value.get("question"))
    question, turns = question_of(record, question_text, omissions, "user_input")
    omissions.keys(value, _KNOWN, "key", "no evaluator reads it")
    expected_calls = expected_calls_of(
        record, value.get("reference_tool_calls"), "reference_tool_calls", omissions
    )
    retrieved = context_fields(value.get("retrieved_contexts", value.get("contexts")), omissions)
    if ids := texts_of(value.get("retrieved_context_ids")):
        retrieved["context_sources"] = ids
    return {
        "input": question,
        "conversation": turns,
        "actual_output": text_of(value.get("response", value.get("answer")), omissions),
        "expected_output": outputs_of(value.get("reference", value.get("ground_truth")), omissions),
        **retrieved,
        "expected_documents": texts_of(value.get("reference_context_ids")),
        "expected_chunks": texts_of(value.get("reference_contexts")),
        "categories": texts_of(value.get("reference_topics")),
        "tool_calls": _calls(record, value.get("user_input"), omissions),
        "expected_tool_calls": expected_calls,
        METADATA: metadata(record, *_KEPT) or None,
    }


def _calls(record: Record, messages: Json, omissions: Omissions) -> list[dict[str, Any]]:
    """Return the calls in the messages of the model."""
    calls = [
        call
        for message in items_of(structure_of(messages))
        if isinstance(message, dict)
        for call in items_of(message.get("tool_calls"))
    ]
    return calls_of(record, calls, "user_input", omissions)
