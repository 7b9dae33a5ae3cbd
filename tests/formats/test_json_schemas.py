from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.json_schemas import render, schema_kinds, text_of
from pytest_evalstudio.formats.kinds import kind_of, read_source
from pytest_evalstudio.formats.source import parse, read_text

EXAMPLES = Path(__file__).parents[2] / "example_suites"
WORKFLOWS = pytest.mark.part("validation")
SUFFIXES = ("*_suite.*", "*_lab.*", "*_dataset.*", "*_workflow.*")
FILES = [
    pytest.param(path, marks=WORKFLOWS if path.match("*_workflow.*") else (), id=path.name)
    for path in sorted(EXAMPLES.rglob("*"))
    if any(map(path.match, SUFFIXES))
]


def validator(kind):
    return Draft202012Validator(json.loads(text_of(kind)))


@pytest.mark.parametrize("kind", schema_kinds())
def test_the_shipped_schema_is_the_generated_one(kind):
    assert text_of(kind) == render(kind)
    Draft202012Validator.check_schema(json.loads(text_of(kind)))


@pytest.mark.parametrize("path", FILES)
def test_every_example_meets_its_schema(path):
    data = parse(read_text(path), path.name, yaml=path.suffix != ".json").data
    assert list(validator(kind_of(data)).iter_errors(data)) == []


def test_a_data_set_in_csv_meets_the_schema_as_read(tmp_path):
    dataset = LlmDataset()
    dataset.add_input("q", key="k", context=["a", "b"], categories=["x"], actual_output="a")
    dataset.save(tmp_path / "d.csv")
    data = read_source(tmp_path / "d.csv").data
    for row in data["inputs"]:
        del row["actual_duration"]  # CSV has no numbers
    assert list(validator("dataset").iter_errors(data)) == []


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("suite", {"tests": [{"test_cases": [{"key": "k"}]}]}),
        ("suite", {"tests": {}}),
        ("dataset", {"inputs": [{"cost": "much"}]}),
        ("lab", {"models": [{"key": []}]}),
        pytest.param("workflow", {"evalstudio_workflow": {"documents": []}}, marks=WORKFLOWS),
        pytest.param(
            "workflow", {"evalstudio_workflow": {"documents": ["a.md"], "modell": "m"}}, marks=WORKFLOWS
        ),
        pytest.param("workflow", {"documents": ["a.md"]}, marks=WORKFLOWS),
    ],
)
def test_what_is_wrong_does_not_meet_it(kind, data):
    assert not validator(kind).is_valid(data)


def test_an_unknown_format_is_told():
    with pytest.raises(
        ConfigurationError,
        match=r"no format named 'suit'. Did you mean 'suite'\? There are: suite, test, test_case, lab,",
    ):
        text_of("suit")
