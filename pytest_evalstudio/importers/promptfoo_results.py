"""Results files of promptfoo (`promptfoo eval -o results.json`): answers with the assertions of their tests.

Source: https://www.promptfoo.dev/docs/configuration/outputs and `EvaluateSummaryV3` of its sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    items_of,
    mapping_of,
    question_of,
    text_of,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.promptfoo_assertions import Expectations
from pytest_evalstudio.importers.promptfoo_templates import chat_of, filled_json, plain_text

_TOKENS = {"prompt": "input_tokens", "completion": "output_tokens"}


def read_results(source: Source, summary: Mapping[str, Json]) -> Imported:
    """Convert each result to a question with the answer of its provider, which becomes a model.

    Args:
        summary: part of the file with the list `results`.
    """
    # For the places in messages; see `promptfoo_results` of `formats.foreign`.
    at = ("results", "results") if summary is not source.data else ("results",)
    imported = convert_records(source, items_of(summary["results"]), _row, *at)
    config = mapping_of(mapping_of(source.data).get("config"))
    # The label of the only prompt distinguishes no rows.
    if len({category for row in imported.rows for category in row.categories}) < 2:
        for row in imported.rows:
            row.categories = []
    imported.name = str(config.get("description") or Path(source.name).stem)
    imported.models = list(dict.fromkeys(row.model_key for row in imported.rows if row.model_key))
    return imported


def _row(record: Record, imported: Imported) -> Fields:
    value, omissions = record.value, imported.omissions
    test = mapping_of(value.get("testCase"))
    variables = {
        name: plain_text(item) for name, item in mapping_of(value.get("vars") or test.get("vars")).items()
    }
    prompt, response = mapping_of(value.get("prompt")), mapping_of(value.get("response"))
    question, turns = question_of(record, chat_of(plain_text(prompt.get("raw"))), omissions)
    expectations = Expectations(omissions)
    for assertion in items_of(test.get("assert")):
        expectations.add(filled_json(assertion, variables))
    if value.get("gradingResult"):
        omissions.add("scores of assertions", "evaluators score the answers anew")
    label = prompt.get("label")
    # promptfoo uses the template as the label where the configuration gives none.
    is_named = isinstance(label, str) and label != prompt.get("raw") and "{{" not in label
    output = text_of(response.get("output"), omissions)
    # promptfoo writes a failed assertion into `error`, too; an answer is none.
    error = plain_text(response.get("error")) or ("" if output else plain_text(value.get("error")))
    metadata = {name: test[name] for name in ("description", "metadata") if test.get(name)}
    return {
        "input": question,
        "conversation": turns,
        "model_key": _provider(value.get("provider")),
        "actual_output": "" if error else output,
        "error": error,
        "actual_duration": _seconds(value.get("latencyMs")),
        "cost": value.get("cost") or response.get("cost") or None,
        "usage": _usage(response.get("tokenUsage")),
        "categories": [str(label)] if is_named else [],
        **expectations.fields(),
        METADATA: metadata or None,
    }


def _provider(value: Json) -> str:
    if isinstance(value, dict):
        return str(value.get("label") or value.get("id") or "")
    return str(value or "")


def _seconds(milliseconds: Json) -> Json:
    if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool):
        return milliseconds / 1000
    return milliseconds or 0.0


def _usage(value: Json) -> dict[str, Json]:
    usage = mapping_of(value)
    return {name: usage[key] for key, name in _TOKENS.items() if usage.get(key)}
