"""JSON Schemas that a validator would take without checking what their authors mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.json_formats import FORMATS, has_format
from pytest_evalstudio.metrics.json_schema import json_fault, read_schema, schema_warning
from pytest_evalstudio.metrics.tool_definitions import read_definitions
from support.project import Project

SCHEMA = {"type": "object", "required": ["fee"], "properties": {"fee": {"type": "number"}}}
CONFIG = """
evaluators = ["json_schema"]
[[model]]
name = "app"
host = "python"
target = "app:ask"
"""
APP = "def ask(prompt):\n    return prompt\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    return project


@pytest.mark.parametrize(
    "declared",
    [
        {"name": "fees", "strict": True, "schema": SCHEMA},
        {"type": "json_schema", "json_schema": {"name": "fees", "schema": SCHEMA}},
        {"format": {"type": "json_schema", "name": "fees", "schema": SCHEMA}},
        json.dumps({"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}),
    ],
)
def test_forms_of_openai_are_unwrapped_in_a_session(project: Project, declared: Any) -> None:
    project.suite(
        {"key": "right", "prompt": '{"fee": 5}', "json_schema": declared},
        {"key": "wrong", "prompt": '{"fee": "five"}', "json_schema": declared},
        {"key": "polite", "prompt": '{"refusal": "I cannot say."}', "json_schema": declared},
    )
    project.run().assert_outcomes(passed=1, failed=2)
    assert main(["validate", str(project.folder / "sums_suite.json")]) == 0


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"propertys": {}}, "unknown keyword 'propertys'. Did you mean 'properties'?"),
        (
            {"properties": {"a/b": {"typ": "x"}}},
            "/properties/a~1b: unknown keyword 'typ'. Did you mean 'type'?",
        ),
        (
            {"anyOf": [{"type": "null"}, {"wholly": 1}]},
            "at /anyOf/1: 'wholly' is no keyword of draft 2020-12",
        ),
        ({"type": "string", "nullable": True}, 'write {"type": ["string", "null"]}'),
        ({"dependencies": {"a": ["b"]}}, "write dependentRequired or dependentSchemas"),
        ({"format": "datetime"}, "unknown format 'datetime'. Did you mean 'date-time'?"),
        ({"name": "fees", "strict": True}, "'name' is no keyword of draft 2020-12"),
    ],
)
def test_unknown_keywords_are_errors(
    project: Project, schema: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project.suite({"key": "k", "prompt": "{}", "json_schema": schema})
    result = project.run()
    assert result.parseoutcomes().get("passed", 0) == 0
    assert message in result.stdout.str()
    assert main(["validate", str(path)]) == 1
    assert message in capsys.readouterr().out
    with pytest.raises(ConfigurationError, match="json_schema: "):
        read_schema(schema, ".")


def test_a_keyword_of_a_matcher_is_checked_where_the_suite_is_read(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project.suite({"key": "k", "prompt": "q", "expected_state": {"/a": {"$schema": {"typ": "null"}}}})
    assert main(["validate", str(path)]) == 1
    assert "$schema: unknown keyword 'typ'. Did you mean 'type'?" in capsys.readouterr().out


def test_other_drafts_and_extensions_have_their_keywords() -> None:
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}
    assert json_fault('{"a": 1}', read_schema(draft_7, "."))[0]
    for schema in ({"x-note": "a"}, {"enum": [{"propertys": 1}]}, {"properties": {"propertys": {}}}):
        read_schema(schema, ".")
    tool = {"name": "pay", "parameters": {"type": "object", "nullable": True, "example": {}}}
    assert "pay" in read_definitions([tool])


@pytest.mark.parametrize(
    ("schema", "is_empty"),
    [
        ({}, True),
        ({"title": "Fee", "description": "of the card"}, True),
        ({"properties": {"fee": {}}, "required": [], "additionalProperties": True}, True),
        ({"anyOf": [{"type": "null"}, {}]}, True),
        ({"allOf": [{}, {"items": True}]}, True),
        ({"type": "object"}, False),
        ({"properties": {"fee": {"type": "number"}}}, False),
        ({"allOf": [{}, {"const": 1}]}, False),
        ({"format": "date"}, False),
        ({"not": {}}, False),
    ],
)
def test_a_schema_that_permits_everything_is_a_warning(
    project: Project, schema: Any, is_empty: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bool(schema_warning(read_schema(schema, "."))) == is_empty
    path = project.suite({"key": "k", "prompt": "{}", "json_schema": schema})
    assert main(["validate", str(path)]) == 0
    assert ("warning: " in capsys.readouterr().out) == is_empty
    options = f"[evaluator.json_schema]\njson_schema = '{json.dumps(schema)}'\n"
    configuration = project.write("evalstudio.toml", CONFIG + options)
    assert main(["validate", str(configuration)]) == 0
    assert ("permits every JSON value" in capsys.readouterr().out) == is_empty


def test_a_format_that_nobody_checks_is_a_warning() -> None:
    assert "format 'int32' is not checked" in schema_warning(read_schema({"format": "int32"}, "."))


RIGHT = {
    "date": ["2024-02-29"],
    "date-time": ["2024-02-29T12:00:00Z", "2024-02-29t23:59:60.5+02:00"],
    "time": ["12:00:00Z", "23:59:59.123-05:30"],
    "duration": ["P1Y2M3DT4H5M6S", "P2W", "PT5M"],
    "email": ["a@b.de", '"a b"@c.de'],
    "idn-email": ["ü@ö.de"],
    "hostname": ["a-b.example.com"],
    "idn-hostname": ["bücher.de"],
    "ipv4": ["10.0.0.1"],
    "ipv6": ["::1", "2001:db8::8a2e:370:7334"],
    "uri": ["https://a.de/b?c=%20#d", "urn:isbn:1"],
    "uri-reference": ["/b?c", ""],
    "iri": ["https://bücher.de/ä"],
    "iri-reference": ["/ä"],
    "uri-template": ["/fees/{card}{?page}"],
    "json-pointer": ["", "/a~1b/0"],
    "relative-json-pointer": ["0#", "1/a"],
    "regex": ["^a+$"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
}
WRONG = {
    "date": ["2024-02-30", "29.02.2024", "2024-2-9"],
    "date-time": ["2024-02-29", "2024-02-29T12:00:00", "2024-02-29T25:00:00Z"],
    "time": ["12:00", "12:00:00", "12:00:00+25:00"],
    "duration": ["P", "PT", "5 minutes", "P1Y2W"],
    "email": ["@", "a", "a b@c.de"],
    "idn-email": ["ü"],
    "hostname": ["-a.de", "a_b.de", "a..de"],
    "idn-hostname": ["a b"],
    "ipv4": ["999.0.0.1", "10.0.0"],
    "ipv6": ["10.0.0.1", "::g"],
    "uri": ["a b", "/relative", "http://a b"],
    "uri-reference": ["a b"],
    "iri": ["no scheme"],
    "iri-reference": ["a b"],
    "uri-template": ["/fees/{card"],
    "json-pointer": ["a", "/~2"],
    "relative-json-pointer": ["/a", "01"],
    "regex": ["("],
    "uuid": ["123e4567e89b12d3a456426614174000", "x"],
}


def test_each_format_has_examples() -> None:
    assert set(RIGHT) == set(WRONG) == set(FORMATS)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_format_is_checked(name: str) -> None:
    schema = read_schema({"format": name}, ".")
    for text in RIGHT[name]:
        assert has_format(text, name), text
        assert json_fault(json.dumps(text), schema) == ("", -1)
    for text in WRONG[name]:
        assert not has_format(text, name), text
        assert json_fault(json.dumps(text), schema)[0]
    assert json_fault("5", schema) == ("", -1)
