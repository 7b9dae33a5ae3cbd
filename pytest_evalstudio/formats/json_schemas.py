"""JSON Schemas of the formats, for editors: generated from the models, shipped as files."""

from __future__ import annotations

import json
from importlib.resources import files

from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.fields import FormatModel
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.scores import ScoresFile
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.formats.workflow import ROOT, Workflow

MODELS: dict[str, type[FormatModel] | type[Workflow] | type[ScoresFile]] = {
    "suite": TestSuite,
    "test": Test,
    "test_case": TestCase,
    "lab": TestLab,
    "dataset": LlmDataset,
    "workflow": Workflow,
    "scores": ScoresFile,
}


def generate(kind: str) -> dict[str, object]:
    """Generate the schema of a format from its model.

    Args:
        kind: one of `MODELS`.
    """
    schema = MODELS[kind].model_json_schema()
    if MODELS[kind] is Workflow:
        properties = {ROOT: schema, "$schema": {"type": "string"}}
        schema = {
            "type": "object",
            "properties": properties,
            "required": [ROOT],
            "additionalProperties": False,
        }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def text_of(kind: str) -> str:
    """Return the shipped schema of a format.

    Raises:
        ConfigurationError: if there is no such format.
    """
    if kind not in MODELS:
        raise unknown_name("format", kind, MODELS, f"There are: {', '.join([*MODELS, 'record'])}.")
    return (files("pytest_evalstudio.formats") / "schemas" / f"{kind}.schema.json").read_text(
        encoding="utf-8"
    )


def render(kind: str) -> str:
    """Return the schema as the text of the shipped file."""
    return json.dumps(generate(kind), indent=2, ensure_ascii=False) + "\n"
