"""Whatever stands in a file, reading it succeeds or raises the error that is meant for it."""

from __future__ import annotations

import copy
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.csv_text import parse_csv
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.source import parse

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([10**400, "\ud800", "k", "m", '"a"', "NOT", "2"])
)
NAMES = st.text(max_size=4) | st.sampled_from(
    [
        *(
            "tests",
            "test_cases",
            "inputs",
            "dataset",
            "models",
            "raw_dataset",
            "key",
            "prompt",
            "categories",
            "relationships",
            "constraints",
            "run",
        ),
        *(
            "condition",
            "evaluators",
            "target",
            "cost",
            "usage",
            "context",
            "model_key",
            "input",
            "test_case_key",
            "documents",
            "evalstudio_workflow",
        ),
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)

SOUND = {
    "suite": {
        "name": "S",
        "tests": [
            {
                "key": "t",
                "documents": ["d.md"],
                "test_cases": [
                    {
                        "key": "a",
                        "prompt": "q",
                        "condition": '"x"',
                        "constraints": ["y", ["z"]],
                        "evaluators": {"rouge": {"threshold": 0.1}},
                    },
                    {
                        "key": "c",
                        "prompt": "q",
                        "conversation": [{"role": "user", "content": "x"}],
                        "guidelines": ["g"],
                    },
                    {
                        "prompt": "p",
                        "relationships": [{"type": "perturbation_source", "target": "a"}],
                        "categories": ["c"],
                    },
                ],
            }
        ],
    },
    "lab": {
        "dataset": {
            "inputs": [
                {
                    "key": "a",
                    "input": "q",
                    "actual_output": "x",
                    "model_key": "m",
                    "context": ["c"],
                    "usage": {"n": 1},
                    "run": 1,
                }
            ]
        },
        "raw_dataset": {"inputs": [{"key": "a", "input": "q", "model_key": "m"}]},
        "models": [{"key": "m", "llm_model_name": "n", "model_cfg": {}}],
    },
    "dataset": {
        "inputs": [{"input": "q", "cost": 0.1, "output_constraints": ["x"]}, {"input": "q", "model_key": "m"}]
    },
}


def outcome(action):
    """Return the content of a file; only an error that is meant for users may end the reading."""
    try:
        result = action()
    except DataError as exc:
        return str(exc)
    for error in result.errors:
        assert isinstance(error, DataError)
    return result


def paths_in(value, path=()):
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from paths_in(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths_in(item, (*path, index))


@st.composite
def mutated(draw):
    data = copy.deepcopy(SOUND[draw(st.sampled_from(sorted(SOUND)))])
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from([path for path in paths_in(data) if path]))
        parent = data
        for step in path:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "delete", "double"]))
        if change == "replace":
            parent[last] = draw(VALUES)
        elif change == "delete":
            del parent[last]
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        else:
            parent[draw(NAMES)] = copy.deepcopy(parent[last])
        if not data:
            break
    return data


@given(VALUES)
def test_any_json_value(value):
    outcome(lambda: read(parse(json.dumps(value), "f.json")))


@given(mutated())
def test_a_sound_file_with_anything_in_any_place(data):
    outcome(lambda: read(parse(json.dumps(data), "f.json")))


@given(mutated())
def test_what_is_sound_of_a_mutated_file_survives_a_round_trip(data):
    result = outcome(lambda: read(parse(json.dumps(data), "f.json")))
    if isinstance(result, str) or result.errors:
        return
    second_result = read(parse(json.dumps(result.content.to_dict()), "g.json"))
    assert second_result.errors == []
    assert second_result.content == result.content


@given(
    st.binary(max_size=60) | st.binary(max_size=20).map(lambda raw: b'{"tests": [' + raw),
    st.sampled_from([".json", ".yaml", ".csv"]),
)
def test_any_bytes(tmp_path_factory, raw, suffix):
    path = tmp_path_factory.getbasetemp() / f"fuzz{suffix}"
    path.write_bytes(raw)
    outcome(lambda: read(read_source(path)))


@given(st.text('{}[],:"\\ \n-NaInfity0.9eE+tests', max_size=40))
def test_any_text_of_the_characters_of_json(text):
    outcome(lambda: read(parse(text, "f.json")))


@given(
    st.text("{}[],:\"'&*!|>%@-? \n#~<a1", max_size=40)
    | mutated().map(lambda data: json.dumps(data, indent=1))
)
def test_any_text_of_the_characters_of_yaml(text):
    outcome(lambda: read(parse(text, "f.yaml", yaml=True)))


@given(
    st.text('()"\\ ANDORTregxp^.*+?[]{}|', max_size=30) | st.text(max_size=20),
    st.text("()[]{}?*+\\^$|aLiumsx<>=!:P0-9,", max_size=20),
)
def test_any_text_as_condition_and_any_pattern_as_constraint(condition, pattern):
    data = {
        "tests": [
            {
                "test_cases": [
                    {"prompt": "q", "condition": condition},
                    {"prompt": "q", "constraints": [f"REGEXP:{pattern}"]},
                ]
            }
        ]
    }
    result = outcome(lambda: read(parse(json.dumps(data), "f.json")))
    assert len(result.content.cases()) + len(result.errors) == 2


@given(
    st.text(',"\n\r;[]{}aNinput ', max_size=40).map("input,context,cost,usage\n".__add__)
    | st.text(string.printable, max_size=40)
)
def test_any_csv(text):
    outcome(lambda: read(parse_csv(text, "f.csv")))


TOML_NAMES = st.sampled_from(
    [
        "evaluators",
        "evaluator",
        "model",
        "gate",
        "output",
        "flips",
        "runs",
        "max_cost",
        "latency",
        "storage",
        "max_s",
        "name",
        "host",
        "file",
        "folder",
    ]
)
TOML = st.recursive(
    SCALARS.filter(lambda value: value is not None) | st.dates() | st.times(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TOML_NAMES | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(TOML_NAMES | st.text(max_size=4), TOML, max_size=4))
def test_any_configuration(data):
    try:
        message = "configuration: " if configuration(data) else ""
    except ConfigurationError as exc:
        message = str(exc)
    assert message.startswith("configuration: ")


@pytest.mark.parametrize("depth", range(880, 1000, 7))
def test_json_near_the_limit_of_nesting_is_read_or_refused(depth):
    text = '{"tests": [{"test_cases": [{"x": ' + "[" * depth + "]" * depth + ', "prompt": 5}]}]}'
    result = outcome(lambda: read(parse(text, "f.json")))
    assert "is nested too deeply to be read" in result if isinstance(result, str) else len(result.errors) == 1
