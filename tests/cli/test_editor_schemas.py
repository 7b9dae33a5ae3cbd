"""Schemas beside a project: what `evalstudio init` writes names them, so that editors find wrong keys."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from pytest_evalstudio.cli.main import main
from support.project import Project

SUITE, CONFIGURATION = "starter_suite.yaml", "evalstudio.toml"
MODELINES = {SUITE: r"# yaml-language-server: \$schema=(\S+)", CONFIGURATION: r"#:schema (\S+)"}
"""First line of a file by which the language servers of YAML and TOML find its schema."""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(pytester, with_app=False)
    monkeypatch.chdir(project.folder)
    return project


def schema_of(path: Path) -> Draft202012Validator:
    """Return the schema that the first line of a file names, relative to the file."""
    match = re.fullmatch(MODELINES[path.name], path.read_text().partition("\n")[0])
    assert match is not None
    return Draft202012Validator(json.loads((path.parent / match[1]).read_text()))


def content_of(text: str, name: str) -> Any:
    return yaml.safe_load(text) if name == SUITE else tomllib.loads(text)


@pytest.mark.parametrize(
    "arguments", [[], ["--python", "app:ask"], ["--agent", "app:ask"], ["--openai", "gpt-5-mini"], ["eval"]]
)
def test_init_writes_files_that_meet_the_schemas_they_name(project: Project, arguments: list[str]) -> None:
    assert main(["init", *arguments]) == 0

    folder = project.folder / "eval" if arguments == ["eval"] else project.folder
    for name in (SUITE, CONFIGURATION):
        path = folder / name
        assert list(schema_of(path).iter_errors(content_of(path.read_text(), name))) == []


@pytest.mark.parametrize(
    ("name", "key", "misspelt"),
    [
        (SUITE, "condition", "conditon"),
        (SUITE, "test_cases", "testcases"),
        (CONFIGURATION, "unchecked", "uncheked"),
    ],
)
def test_a_misspelt_key_does_not_meet_the_schema(
    project: Project, name: str, key: str, misspelt: str
) -> None:
    assert main(["init"]) == 0

    path = project.folder / name
    wrong = re.sub(rf"\b{key}\b", misspelt, path.read_text())
    [error, *_] = schema_of(path).iter_errors(content_of(wrong, name))
    assert repr(misspelt) in error.message


def test_init_writes_the_schemas_again(project: Project) -> None:
    schema = project.write(".evalstudio/schemas/suite.schema.json", "of an older version")

    assert main(["init"]) == 0

    assert json.loads(schema.read_text())["title"] == "TestSuite"


def test_the_schemas_of_a_clone(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--write"]) == 0

    schemas = sorted(path.name for path in (project.folder / ".evalstudio" / "schemas").iterdir())
    assert {"suite.schema.json", "lab.schema.json", "dataset.schema.json", "configuration.schema.json"} <= {
        *schemas
    }
    assert capsys.readouterr().out == f"wrote {len(schemas)} schemas to .evalstudio/schemas\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["schema"], "schema: no format is given; give one, e.g. suite, or --write for all"),
        (
            ["schema", "suite", "--write"],
            "schema suite --write: --write writes all schemas; give it without a format",
        ),
    ],
)
def test_a_format_or_all(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"evalstudio: {message}\n"


def test_a_suite_in_json_names_its_schema_by_a_key(project: Project) -> None:
    assert main(["schema", "--write"]) == 0
    schema = {"$schema": ".evalstudio/schemas/suite.schema.json"}
    project.write("app.py", "def ask(prompt):\n    return 'It is 4.'\n")
    project.write(CONFIGURATION, '[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n')
    path = project.suite({"key": "sum", "prompt": "2+2?", "condition": '"4"'}, **schema)

    data = json.loads(path.read_text())
    validator = Draft202012Validator(json.loads((project.folder / data["$schema"]).read_text()))
    assert list(validator.iter_errors(data)) == []
    assert not validator.is_valid({**data, "tests": [{"test_cases": [{"prompt": "2+2?", "expct": "4"}]}]})
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*warning*")
