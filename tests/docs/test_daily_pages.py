"""Examples of the pages on editors, on tests in Python and on the history."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.formats.json_schemas import text_of
from support.pages import DOCS, blocks, read
from support.project import Project

EDITORS = read(DOCS / "write" / "editors.md")
PYTHON = read(DOCS / "write" / "python-tests.md")
HISTORY = read(DOCS / "read" / "history.md")
APP = """
ANSWERS = {
    "What does a card cost?": "A card costs 5 USD.",
    "What does a replacement card cost?": "It costs 5 USD.",
    "What does a transfer cost?": "It costs 15 USD.",
}


def ask(prompt):
    return ANSWERS[prompt]
"""
CONFIG = 'evaluators = ["text_matching"]\n\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n'


def titled(page: str) -> dict[str, str]:
    """Return the files of a page by their names."""
    matches = re.findall(r'^```\w+ title="([^"]+)"[^\n]*\n(.*?)^```$', page, re.DOTALL | re.MULTILINE)
    return dict(matches)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(pytester, with_app=False)
    project.write("app.py", APP)
    project.write("fees_suite.yaml", titled(EDITORS)["fees_suite.yaml"])
    monkeypatch.chdir(project.folder)
    return project


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a page; the browser is a program that does nothing."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "BROWSER": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_first_lines_are_those_that_init_writes(project: Project) -> None:
    (project.folder / "fees_suite.yaml").unlink()
    assert main(["init"]) == 0
    for name in ("starter_suite.yaml", "evalstudio.toml"):
        first = (project.folder / name).read_text(encoding="utf-8").partition("\n")[0]
        assert f"`{first}`" in EDITORS


def test_the_suite_of_the_page_names_a_schema_that_it_meets(project: Project) -> None:
    write, node = blocks(EDITORS, "sh")
    project.write("evalstudio.toml", CONFIG)

    assert run(write, project.folder).stdout == blocks(EDITORS, "text")[0]

    text = (project.folder / "fees_suite.yaml").read_text(encoding="utf-8")
    schema = project.folder / text.partition("\n")[0].partition("$schema=")[2]
    assert schema.read_text(encoding="utf-8") == text_of("suite")
    validator = Draft202012Validator(json.loads(text_of("suite")))
    assert validator.is_valid(yaml.safe_load(text))
    assert not validator.is_valid(yaml.safe_load(text.replace("condition", "conditon")))
    assert " 1 passed" in run(node, project.folder).stdout


def test_the_key_of_json_is_the_one_that_the_schema_knows() -> None:
    [key] = re.findall(r'`("\$schema": "[^"]+")`', EDITORS)
    suite = json.loads(f'{{{key}, "tests": []}}')
    assert Draft202012Validator(json.loads(text_of("suite"))).is_valid(suite)
    assert json.loads(titled(EDITORS)[".vscode/settings.json"])["python.testing.pytestEnabled"] is True


def test_the_tests_in_python_do_what_the_page_says(project: Project) -> None:
    pytest.importorskip("pandas")
    files = titled(PYTHON)
    assert len(files["conftest.py"].splitlines()) <= 10
    for name, text in files.items():
        # The environment of these tests has anyio, which runs the same test.
        project.write(name, text.replace("pytest.mark.asyncio", "pytest.mark.anyio"))
    backend = '\n\nimport pytest\n\n\n@pytest.fixture\ndef anyio_backend():\n    return "asyncio"\n'
    project.write("conftest.py", files["conftest.py"] + backend)

    result = project.run_process("-p", "anyio", "test_data.py", "test_scores.py")

    result.assert_outcomes(passed=4, failed=1)
    [excerpt] = [text for text in blocks(PYTHON, "text") if text.startswith("E ")]
    assert [line for line in excerpt.splitlines() if line not in result.outlines] == []


def test_the_history_is_written_and_opened(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG)
    [commands] = blocks(HISTORY, "sh")
    pytest_command, page_command = commands.splitlines()
    assert shlex.split(page_command) == ["evalstudio", "history", "--open"]

    assert run(pytest_command, project.folder).returncode == 0
    project.write("app.py", APP.replace('"It costs 5 USD."', '"It costs nothing."'))
    assert run(pytest_command, project.folder).returncode == 1
    result = run(page_command, project.folder)

    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines() == [f"wrote {Path('.evalstudio', 'history.html')}"]
    page = (project.folder / ".evalstudio" / "history.html").read_text(encoding="utf-8")
    assert "History of 2 runs" in page
    assert 'aria-label="passed in 1 run, failed in 1 run"' in page
