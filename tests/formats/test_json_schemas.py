from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.json_schemas import render, schema_kinds, text_of
from pytest_evalstudio.formats.kinds import kind_of, read_source
from pytest_evalstudio.formats.source import parse, read_text
from pytest_evalstudio.scoring.plan import COMMON_OPTIONS, JUDGE_OPTION
from pytest_evalstudio.scoring.reporting_options import REPORTING_NAMES
from pytest_evalstudio.scoring.step_selection import DecidingStep, StepSelection

CASE = {"key": "k", "prompt": "2+2?"}
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
        ("suite", {"tests": [{"test_cases": [{**CASE, "conditon": '"4"'}]}]}),
        ("suite", {"tests": [{"test_cases": [CASE], "documnts": ["a.md"]}]}),
        ("suite", {"tests": [], "descripton": "Sums"}),
        ("test_case", {**CASE, "expect": "refusal"}),
        ("configuration", {"evaluator": {"rouge": 0.5}}),
        ("configuration", {"evaluator": {"rouge": {"threshold": "0.5"}}}),
        ("configuration", {"evaluator": {"rouge": {"on": {"kind": "retrival"}}}}),
        ("configuration", {"evaluaters": ["rouge"]}),
        ("configuration", {"model": [{"host": "python"}]}),
        ("configuration", {"comparison": {"fail_on": ["casse"]}}),
        ("configuration", {"comparison": {"allowed_drops": 0.1}}),
        ("configuration", {"runs": {"max": 5}}),
        ("configuration", {"unchecked": "warn"}),
        ("configuration", {"folder": "."}),
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


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("suite", {"$schema": "s.json", "x-team": "cards", "tests": [{"test_cases": [CASE]}]}),
        ("suite", {"tests": [{"test_cases": [{**CASE, "x-id": 3, "metadata": {"a": 1}, "source": "faq"}]}]}),
        ("configuration", {}),
        ("configuration", {"evaluators": "rouge, text_matching", "gate": "rouge.rouge_l >= 0.3"}),
        ("configuration", {"evaluators": ["tag:fast"], "evaluator": {"mine": {"type": "rouge", "own": 1}}}),
        ("configuration", {"model": [{"name": "m", "host": "python", "target": "app:ask", "runs": 3}]}),
        ("configuration", {"runs": {"max": 5, "stop": "sprt"}, "pass": "8/10"}),
        ("configuration", {"comparison": {"fail_on": "case, mean", "segments": "language"}}),
    ],
)
def test_what_is_right_meets_it(kind, data):
    assert list(validator(kind).iter_errors(data)) == []


CONFIGURATIONS = sorted(EXAMPLES.rglob("*.toml"))


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_configuration_of_the_examples_meets_the_schema(path):
    assert list(validator("configuration").iter_errors(tomllib.loads(path.read_text()))) == []


def test_the_options_of_every_evaluator_are_those_that_a_plan_reads():
    options = json.loads(text_of("configuration"))["properties"]["evaluator"]["additionalProperties"]
    assert set(options["properties"]) == {*COMMON_OPTIONS, *REPORTING_NAMES, JUDGE_OPTION}
    assert options["properties"]["on"]["properties"]["decides"]["enum"] == [*get_args(DecidingStep)]
    assert set(options["properties"]["on"]["properties"]) == set(StepSelection.__struct_fields__)


def test_every_key_of_the_configuration_is_described():
    schema = json.loads(text_of("configuration"))
    # A table without a description of its own has that of its definition.
    assert all("description" in field or "$ref" in field for field in schema["properties"].values())
    assert all("description" in definition for definition in schema["$defs"].values())


def test_an_unknown_format_is_told():
    with pytest.raises(
        ConfigurationError,
        match=r"no format named 'suit'. Did you mean 'suite'\? There are: suite, test, test_case, lab,",
    ):
        text_of("suit")
