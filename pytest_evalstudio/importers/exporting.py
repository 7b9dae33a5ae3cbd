"""Suites, data sets and labs in the formats of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_evalstudio.formats.agent_evaluation import evaluation_entry
from pytest_evalstudio.formats.agent_evaluation_export import (
    expected_context,
    export_evaluation_set,
    lost_fields,
    rows_of,
)
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.imported.records import METADATA
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite

_EXPECTATIONS = (
    *(
        "expected_output",
        "accepted_outputs",
        "expected_facts",
        "guidelines",
        "expected_documents",
        "expected_chunks",
    ),
    *("output_condition", "condition_on", "expects", "expected_tool_calls", "expected_state", "retrieval"),
    *(
        "output_constraints",
        "categories",
        "relationships",
        "corpus",
        "context",
        "context_sources",
        "conversation",
        "turns",
        "user",
        "images",
        "files",
    ),
    *("xfail", "skip", "evaluators"),
)
"""Fields whose loss changes what a test expects or describes."""


@dataclass(frozen=True, slots=True)
class Format:
    """Another tool's form of a row.

    Attributes:
        record: converts a row.
        takes: fields that the form has.
        lines: the files are JSON Lines, not one JSON list.
    """

    record: Callable[[Row], dict[str, object]]
    takes: frozenset[str]
    lines: bool = True


def _filled(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _messages(row: Row) -> list[dict[str, str]]:
    turns = [{"role": turn.role, "content": turn.content} for turn in row.conversation]
    return [*turns, {"role": "user", "content": row.input}]


def _deepeval(row: Row) -> dict[str, object]:
    return _filled(
        {
            "input": row.input,
            "actual_output": row.actual_output,
            "expected_output": row.expected_output,
            "retrieval_context": row.context,
            "context": row.expected_chunks,
            "name": row.key,
            "tags": row.categories,
            "additional_metadata": (row.model_extra or {}).get(METADATA),
        }
    )


def _ragas(row: Row) -> dict[str, object]:
    roles = {"user": "human", "assistant": "ai"}
    turns = [
        {"type": roles[turn["role"]], "content": turn["content"]}
        for turn in _messages(row)
        if turn["role"] in roles
    ]
    return _filled(
        {
            "user_input": turns if row.conversation else row.input,
            "response": row.actual_output,
            "reference": row.expected_output,
            "retrieved_contexts": row.context,
            "retrieved_context_ids": row.context_sources,
            "reference_context_ids": row.expected_documents,
            "reference_contexts": row.expected_chunks,
        }
    )


def _openai_evals(row: Row) -> dict[str, object]:
    return _filled(
        {
            "input": _messages(row),
            "ideal": [row.expected_output, *row.accepted_outputs]
            if row.accepted_outputs
            else row.expected_output,
        }
    )


def _mlflow(row: Row) -> dict[str, object]:
    inputs: dict[str, object] = {"messages": _messages(row)} if row.conversation else {"question": row.input}
    expectations = {
        "expected_response": row.expected_output,
        "expected_facts": row.expected_facts,
        "guidelines": row.guidelines,
        "expected_retrieved_context": expected_context(row),
    }
    return _filled(
        {
            "inputs": inputs,
            "outputs": row.actual_output,
            "expectations": _filled(expectations),
            "tags": (row.model_extra or {}).get(METADATA),
        }
    )


def _braintrust(row: Row) -> dict[str, object]:
    return _filled(
        {
            "id": row.key,
            "input": {"messages": _messages(row)} if row.conversation else row.input,
            "expected": row.expected_output,
            "output": row.actual_output,
            "tags": row.categories,
            "metadata": (row.model_extra or {}).get(METADATA),
        }
    )


def _langsmith(row: Row) -> dict[str, object]:
    inputs: dict[str, object] = {"messages": _messages(row)} if row.conversation else {"question": row.input}
    return _filled(
        {
            "inputs": inputs,
            "outputs": _filled({"answer": row.expected_output}),
            "metadata": (row.model_extra or {}).get(METADATA),
            "split": row.categories,
        }
    )


AGENT_EVALUATION = "agent-evaluation"
FORMATS: Mapping[str, Format] = {
    AGENT_EVALUATION: Format(
        evaluation_entry,
        frozenset(
            {
                "expected_output",
                "expected_facts",
                "guidelines",
                "expected_documents",
                "expected_chunks",
                "context",
                "context_sources",
            }
            | {"conversation"}
        ),
    ),
    "braintrust": Format(_braintrust, frozenset({"expected_output", "categories", "conversation"})),
    "deepeval": Format(
        _deepeval, frozenset({"expected_output", "categories", "context", "expected_chunks"}), lines=False
    ),
    "langsmith": Format(_langsmith, frozenset({"expected_output", "categories", "conversation"})),
    "mlflow": Format(
        _mlflow,
        frozenset({"expected_output", "expected_facts", "guidelines", "expected_documents"})
        | {"expected_chunks", "conversation"},
    ),
    "openai-evals": Format(_openai_evals, frozenset({"expected_output", "accepted_outputs", "conversation"})),
    "ragas": Format(
        _ragas,
        frozenset({"expected_output", "context", "context_sources", "expected_documents"})
        | {"expected_chunks", "conversation"},
    ),
}


def export(
    kind: str, content: TestSuite | TestLab | LlmDataset, model: str = ""
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the records of another tool's file, and the fields with content that it has no place for.

    Args:
        kind: one of FORMATS.
        model: key or name of the model whose answers are written; required if there are several.

    Raises:
        DataError: if there are answers of several models and none is chosen.
        ConfigurationError: for an unknown model.
    """
    form = FORMATS[kind]
    rows = rows_of(content, model)
    lost = lost_fields(content, rows, (name for name in _EXPECTATIONS if name not in form.takes))
    if kind == AGENT_EVALUATION:  # repeats get request ids of their own, and cases of a suite no response
        return export_evaluation_set(content, model), lost
    return [form.record(row) for row in rows], lost
