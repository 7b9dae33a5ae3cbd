"""JSON Schemas of the formats, for editors: generated from the models, shipped as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files

from pydantic import BaseModel

from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.core.plugins.contrib import file_kinds, loaded
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.fields import FormatModel
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite

_CORE: Mapping[str, type[FormatModel]] = {
    "suite": TestSuite,
    "test": Test,
    "test_case": TestCase,
    "lab": TestLab,
    "dataset": LlmDataset,
}


def schema_kinds() -> list[str]:
    """Return the formats with a schema, those of optional parts included."""
    return [*_CORE, *(kind.name for kind in file_kinds())]


def generate(kind: str) -> dict[str, object]:
    """Generate the schema of a format from its model.

    Args:
        kind: one of `schema_kinds()`.
    """
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    if kind in _CORE:
        return {**dialect, **_CORE[kind].model_json_schema()}
    (of_part,) = (file_kind for file_kind in file_kinds() if file_kind.name == kind)
    model: type[BaseModel] = loaded(of_part.model)
    schema = model.model_json_schema()
    if of_part.root:
        # References start at the root of the document.
        definitions = schema.pop("$defs", {})
        properties = {of_part.root: schema, "$schema": {"type": "string"}}
        schema = {
            "type": "object",
            "properties": properties,
            "required": [of_part.root],
            "additionalProperties": False,
        }
        if definitions:
            schema["$defs"] = definitions
    return {**dialect, **schema}


def text_of(kind: str) -> str:
    """Return the shipped schema of a format.

    Raises:
        ConfigurationError: if there is no such format.
    """
    if kind not in (kinds := schema_kinds()):
        raise unknown_name("format", kind, kinds, f"There are: {', '.join([*kinds, 'record'])}.")
    return (files("pytest_evalstudio.formats") / "schemas" / f"{kind}.schema.json").read_text(
        encoding="utf-8"
    )


def render(kind: str) -> str:
    """Return the schema as the text of the shipped file."""
    return json.dumps(generate(kind), indent=2, ensure_ascii=False) + "\n"
