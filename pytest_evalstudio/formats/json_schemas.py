"""JSON Schemas of the formats, for editors: generated from the models, shipped as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from pytest_evalstudio.core.docstrings import attribute_text, summary_of
from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.core.plugins.contrib import file_kinds, loaded
from pytest_evalstudio.core.plugins.index import MODULES
from pytest_evalstudio.core.steps import StepKind
from pytest_evalstudio.formats.config import FAIL_REASONS, Configuration
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.fields import FormatModel
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core.core_schema import ModelSchema

CONFIGURATION = "configuration"
_CORE: Mapping[str, type[FormatModel]] = {
    "suite": TestSuite,
    "test": Test,
    "test_case": TestCase,
    "lab": TestLab,
    "dataset": LlmDataset,
}
# An evaluator's own options are further keys: they belong to its class, which may be of another package.
_EVALUATOR_OPTIONS: Mapping[str, Mapping[str, object]] = {
    "type": {"type": "string", "description": "Id of the evaluator, where the table has another name."},
    "threshold": {"type": "number", "description": "Threshold of the primary metric."},
    "thresholds": {
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "Thresholds by metric.",
    },
    "flips": {"enum": ["all", "primary"], "description": "Metrics whose flips fail a perturbed case."},
    "calibration": {"type": "string", "description": "File that `evalstudio calibrate` wrote."},
    "judge_check": {"type": "string", "description": "File that `evalstudio judge-check` wrote."},
    "on": {
        "type": "object",
        "properties": {
            "kind": {"enum": sorted(get_args(StepKind))},
            "name": {"type": "string"},
            "agent": {"type": "string"},
            "decides": {"enum": ["worst", "best", "first", "last"]},
        },
        "required": ["kind"],
        "additionalProperties": False,
        "description": "Steps that are scored in place of the answer.",
    },
    "min_test_cases": {
        "type": "integer",
        "minimum": 0,
        "description": "A model with fewer scored cases is reported as a problem.",
    },
    "save_llm_result": {"type": "boolean", "description": "Whether the report has files with each row."},
    "sentence_level_metrics": {"type": "boolean", "description": "Whether parts of answers are scored."},
    "judge": {"type": "object", "description": "Judge of this evaluator, as in `[judge]`."},
}
"""Options that every evaluator has."""


class _DescribedSchema(GenerateJsonSchema):
    """Generator of schemas whose properties have the descriptions of the attributes."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        model = schema["cls"]
        definition = super().model_schema(schema)
        definition["description"] = summary_of(model)
        for name, field in model.model_fields.items():
            of_field = definition["properties"].get(field.alias or name)
            if of_field is not None and (text := attribute_text(model, name)):
                of_field["description"] = text
        return definition


def schema_kinds() -> list[str]:
    """Return the formats with a schema, those of optional parts included."""
    return [*_CORE, CONFIGURATION, *(kind.name for kind in file_kinds())]


def generate(kind: str) -> dict[str, object]:
    """Generate the schema of a format from its model.

    Args:
        kind: one of `schema_kinds()`.
    """
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    if kind in _CORE:
        schema = _CORE[kind].model_json_schema()
        schema["properties"]["$schema"] = {"type": "string"}
        return {**dialect, **schema}
    if kind == CONFIGURATION:
        return {**dialect, **_configuration_schema()}
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


def _configuration_schema() -> dict[str, Any]:
    """Return the schema of `evalstudio.toml`, which proposes the ids of evaluators and hosts."""
    schema = Configuration.model_json_schema(schema_generator=_DescribedSchema)
    properties, definitions = schema["properties"], schema["$defs"]
    for name in ("file", "folder"):
        del properties[name]
    evaluators, hosts = (
        {"anyOf": [{"enum": sorted(MODULES[kind])}, {"type": "string"}]} for kind in ("evaluator", "host")
    )
    for form in properties["evaluators"]["anyOf"]:
        if form["type"] == "array":
            form["items"] = evaluators
    properties["evaluator"]["propertyNames"] = evaluators
    properties["evaluator"]["additionalProperties"]["properties"] = _EVALUATOR_OPTIONS
    for table in ("ModelTable", "ConnectionTable"):
        definitions[table]["properties"]["host"] |= hosts
    for form in definitions["ComparisonTable"]["properties"]["fail_on"]["anyOf"]:
        if form["type"] == "array":
            form["items"] = {"enum": list(FAIL_REASONS)}
    return schema


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
