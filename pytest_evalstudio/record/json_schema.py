"""The JSON Schema of a record's lines, for readers in other languages."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_evalstudio.record.schema import Item, JsonObject, Run, Tables

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_INFINITIES = {"enum": ["Infinity", "-Infinity"]}


def record_schema() -> JsonObject:
    """Return the JSON Schema that each line of a record meets.

    A number may be the word "Infinity" or "-Infinity".
    """
    lines, components = msgspec.json.schema_components([Run, Item, Tables], ref_template="#/$defs/{name}")
    return {
        "$schema": DRAFT,
        "title": "A line of a pytest-evalstudio record: one header, then one item per test case and model",
        "anyOf": list(lines),
        "$defs": with_infinities(components),
    }


def with_infinities(schema: Any) -> Any:
    """Return a JSON Schema in which each number may be the word "Infinity" or "-Infinity"."""
    if isinstance(schema, dict):
        if schema.get("type") == "number":
            return {"anyOf": [schema, _INFINITIES]}
        return {key: with_infinities(value) for key, value in schema.items()}
    return [with_infinities(item) for item in schema] if isinstance(schema, list) else schema
