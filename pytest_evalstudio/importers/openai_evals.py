"""Samples of OpenAI's evals: JSON Lines with `input` and `ideal`, or with `item` (the Evals API).

Source: https://github.com/openai/evals, https://platform.openai.com/docs/guides/evals
"""

from __future__ import annotations

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.condition_writing import value_condition
from pytest_evalstudio.formats.imported.records import (
    ANSWER_KEYS,
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    question_of,
    records,
    text_of,
    texts_of,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.references import outputs_of

_EXPECTED = ("ideal", "correct_label", "ground_truth", "reference", *ANSWER_KEYS)


def read(source: Source) -> Imported:
    """Convert samples to questions.

    Ideal answers become a condition: one of them must be in the answer, a number by its value.
    """
    return convert_records(source, records(source), _row)


def _row(record: Record, imported: Imported) -> Fields | None:
    value, omissions = record.value, imported.omissions
    if isinstance(value.get("item"), dict):
        return _item(record, value["item"], imported)
    question, turns = question_of(record, value.get("input"), omissions, "input")
    ideal = texts_of(value.get("ideal"))
    sample = value.get("sample")
    answer = sample.get("output_text") if isinstance(sample, dict) else None
    omissions.keys(value, {"input", "ideal", "sample", "metadata"}, "key", "no evaluator reads it")
    return {
        "input": question,
        "conversation": turns,
        "expected_output": ideal,
        "output_condition": " OR ".join(map(value_condition, ideal)),
        "actual_output": text_of(answer, omissions),
        METADATA: value.get("metadata") or None,
    }


def _item(record: Record, item: Json, imported: Imported) -> Fields:
    assert isinstance(item, dict)
    expected = next((name for name in _EXPECTED if isinstance(item.get(name), str | list)), None)
    variables = {name: value for name, value in item.items() if name != expected}
    question, turns = question_of(record, variables, imported.omissions, "item")
    sample = record.value.get("sample")
    answer = sample.get("output_text") if isinstance(sample, dict) else None
    return {
        "input": question,
        "conversation": turns,
        "expected_output": outputs_of(item.get(expected) if expected else None, imported.omissions),
        "actual_output": text_of(answer, imported.omissions),
    }
