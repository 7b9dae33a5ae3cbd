"""JSON Schema: parse faults, schema faults, and schemas that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.json_schema import JsonSchema
from pytest_evalstudio.metrics import json_schema

Make = Callable[..., Case]
SCHEMA = {
    "type": "object",
    "required": ["rate"],
    "properties": {"rate": {"type": "number"}, "code": {"pattern": "^[A-Z]+$"}},
}


def reason(answer: str, tools: Tools, case: Make, schema: Any = "{}") -> str:
    (outcome,) = JsonSchema(json_schema=schema).score(
        [case(answer, context=("no json",), is_rag=True)], tools
    )
    assert outcome.status == "score"
    assert outcome.scores["model_passes"] == float(not outcome.reason)
    assert outcome.scores["model_generation_failures"] == float(bool(outcome.reason))
    assert outcome.scores["model_retrieval_failures"] == 0.0
    return outcome.reason


@pytest.mark.parametrize("answer", ['{"a": 1}', " [1, 2]\n", "null", '"text"', "1e5", '{"a": "NaN"}'])
def test_any_json_passes_the_empty_schema(answer: str, tools: Tools, case: Make) -> None:
    assert reason(answer, tools, case) == ""


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("hello", "answer: not JSON: Expecting value (line 1, column 1)"),
        ('{"a": 1,\n}', "line 2"),
        ('```json\n{"a": 1}\n```', "not JSON"),
        ('{"a": 1} trailing', "Extra data (line 1, column 10)"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ("[Infinity]", "Infinity is not a JSON value"),
        ("[-Infinity]", "-Infinity is not a JSON value"),
        ("{'a': 1}", "double quotes"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_fails_with_its_place(answer: str, fault: str, tools: Tools, case: Make) -> None:
    assert fault in reason(answer, tools, case)


def test_the_place_of_a_parse_fault_is_marked(case: Make, tools: Tools) -> None:
    (outcome,) = JsonSchema().score([case('{"a": x}')], tools)
    assert [(fragment.start, fragment.end) for fragment in outcome.fragments] == [(6, 7)]


@pytest.mark.parametrize("form", ["dict", "text", "path", "relative path"])
def test_a_schema_comes_in_four_forms(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Tools, case: Make
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rate.schema.json"
    path.write_text(json.dumps(SCHEMA))
    schema: Any = {"dict": SCHEMA, "text": json.dumps(SCHEMA), "path": str(path), "relative path": path.name}[
        form
    ]
    assert reason('{"rate": 5.25}', tools, case, schema) == ""
    assert reason('{"rate": "high"}', tools, case, schema) == "answer: /rate: 'high' is not of type 'number'"
    assert reason("{}", tools, case, schema) == "answer: the whole: 'rate' is a required property"
    assert "does not match" in reason('{"rate": 1, "code": "a1"}', tools, case, schema)


def test_a_case_may_bring_its_own_schema(case: Make, tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"type": "array"}')
    cases = [
        case("{}", extra={"json_schema": {"type": "array"}}),
        case("[]", extra={"json_schema": "own.json"}, folder=str(tmp_path)),
        case("{}"),
    ]
    assert [outcome.scores["model_passes"] for outcome in JsonSchema().score(cases, tools)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ('{"type": "nonsense"}', "not a valid schema"),
        ('{"type": ', "not JSON"),
        ("missing.json", "cannot read"),
        (3, "a JSON object"),
    ],
)
def test_an_invalid_schema_is_a_usage_error_at_once(
    schema: Any, fault: str, case: Make, tools: Tools
) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        JsonSchema(json_schema=schema)
    (outcome,) = JsonSchema().score([case("{}", extra={"json_schema": schema})], tools)
    assert outcome.status == "error"


def test_references_within_a_schema_work_and_none_is_downloaded(case: Make, tools: Tools) -> None:
    local = {"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}
    assert reason("[1]", tools, case, local) == ""
    assert reason('["a"]', tools, case, local).startswith("answer: /0:")
    (outcome,) = JsonSchema(json_schema={"$ref": "http://127.0.0.1:9/x.json"}).score([case("[]")], tools)
    assert outcome.status == "error"
    assert "nothing is downloaded" in outcome.reason


def test_a_slow_pattern_is_an_error_and_no_verdict(case: Make, tools: Tools) -> None:
    slow = JsonSchema(json_schema={"pattern": "(a+)+$"})
    (outcome,) = slow.score([case(json.dumps("a" * 5_000 + "b"))], tools)
    assert outcome.status == "error"


def test_a_secret_in_the_answer_is_not_repeated(tools: Tools, case: Make) -> None:
    assert "219-09-9999" not in reason('{"rate": "219-09-9999"}', tools, case, SCHEMA)


BACKTRACKING = "^(a|a)*$"
"""Takes time exponential in the number of letters a where a b follows them."""


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {BACKTRACKING: {"type": "string"}}},
        {"patternProperties": {BACKTRACKING: {}}, "additionalProperties": False},
        {"propertyNames": {"pattern": BACKTRACKING}},
    ],
)
def test_patterns_of_property_names_have_a_time_limit(
    schema: dict[str, Any], tools: Tools, case: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json_schema._PATTERN_TIMEOUT_S == 2
    monkeypatch.setattr(json_schema, "_PATTERN_TIMEOUT_S", 0.2)
    answer = json.dumps({"a" * 60 + "b": "x"})

    (outcome,) = JsonSchema(json_schema=schema).score([case(answer)], tools)

    assert outcome.status == "error"
    assert "took longer than 0.2 s" in outcome.reason


def test_pattern_properties_and_additional_properties_agree_with_jsonschema(tools: Tools, case: Make) -> None:
    from jsonschema import Draft202012Validator

    schemas: list[dict[str, Any]] = [
        {"patternProperties": {"^x_": {"type": "number"}}, "additionalProperties": False},
        {"patternProperties": {"^x_": {"type": "number"}}, "additionalProperties": {"type": "boolean"}},
        {"properties": {"b": {}}, "additionalProperties": False},
        {"properties": {"b": {}}, "patternProperties": {"^x": {}}, "additionalProperties": {"minLength": 2}},
    ]
    values: list[Any] = [{}, {"x_a": 1}, {"x_a": "1"}, {"b": 1}, {"b": True}, {"c": "l", "d": "ll"}, [1], 3]

    for schema in schemas:
        for value in values:
            valid = Draft202012Validator(schema).is_valid(value)
            assert (reason(json.dumps(value), tools, case, schema) == "") == valid, (schema, value)


def test_a_property_may_have_the_name_of_a_keyword(tools: Tools, case: Make) -> None:
    schema = {"properties": {"patternProperties": {"type": "string"}}, "unevaluatedProperties": False}
    assert reason('{"patternProperties": "a"}', tools, case, schema) == ""
    assert reason('{"other": "a"}', tools, case, schema) != ""


def test_unevaluated_properties_beside_patterns_are_refused(tools: Tools, case: Make) -> None:
    schema = {"patternProperties": {"^a": {}}, "unevaluatedProperties": False}

    (outcome,) = JsonSchema(json_schema=schema).score([case('{"a": 1}')], tools)

    assert outcome.status == "error"
    assert "use additionalProperties" in outcome.reason
    assert reason('{"a": 1}', tools, case, {"unevaluatedProperties": False}) != ""
