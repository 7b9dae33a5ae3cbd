"""Test views of VS Code and PyCharm: tree, lines, node ids, failures and their difference."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.project import Project

# The plugin of VS Code has this name and builds its tree so: an item with a `callspec` must be of a Python
# file, any other one needs a path, a line, and a file as its parent.
TREE = """
import json

import pytest


def pytest_collection_finish(session):
    nodes = []
    for item in session.items:
        if hasattr(item, "callspec"):
            item.nodeid.rsplit("::", 1)[0].rsplit(".py", 1)[1]
        assert isinstance(item.parent, pytest.File)
        path, line, name = item.location
        selector = item.nodeid.partition("::")[2]
        nodes.append({"id": f"{item.path}::{selector}", "line": line + 1, "name": item.name})
    with open("tree.json", "w") as file:
        json.dump(nodes, file)
"""
DIFFERENCES = """
import json

differences = []


def pytest_assertrepr_compare(config, op, left, right):
    differences.append([op, left, right])


def pytest_unconfigure():
    with open("differences.json", "w") as file:
        json.dump(differences, file)
"""
SUITE = """tests:
  - test_cases:
      - key: plain
        prompt: 2+2?
        condition: '"4"'

      - key: with a blank
        prompt: 2+2?
        condition: '"4"'
      - key: "in [brackets] (and) more"
        prompt: 2+2?
        condition: '"4"'
      - key: a::b/c.d
        prompt: 2+2?
        condition: '"4"'
"""
WRONG = {"key": "wrong", "prompt": "3+3?", "expected_output": "It is 7.", "condition": '"7"'}


def read(project: Project, name: str) -> Any:
    return json.loads((project.folder / name).read_text())


@pytest.fixture(autouse=True)
def project_on_path(pytester: pytest.Pytester) -> None:
    """Let `-p` find the modules of the project, as `python -m pytest` does."""
    pytester.syspathinsert()


@pytest.fixture
def tree(project: Project) -> list[dict[str, Any]]:
    """The tree of a workspace with a suite in YAML and a parametrized test in Python."""
    project.write("vscode_pytest.py", TREE)
    project.write("suites/sums_suite.yaml", SUITE)
    project.write(
        "test_sums.py",
        "import pytest\n\n\n@pytest.mark.parametrize('n', [1])\ndef test_n(n):\n    pass\n",
    )
    project.run("-p", "vscode_pytest", "--collect-only", "-q")
    nodes: list[dict[str, Any]] = read(project, "tree.json")
    return nodes


def test_the_view_of_vs_code_shows_each_case_at_its_line(
    project: Project, tree: list[dict[str, Any]]
) -> None:
    assert [(node["name"], node["line"]) for node in tree] == [
        ("plain[app]", 3),
        ("with_a_blank[app]", 7),
        ("in__brackets__(and)_more[app]", 10),
        ("a_b_c.d[app]", 13),
        ("test_n[1]", 4),
    ]


def test_each_case_runs_alone_by_its_absolute_id(project: Project, tree: list[dict[str, Any]]) -> None:
    for node in tree:
        result = project.run("-p", "vscode_pytest", f"--rootdir={project.folder}", node["id"])
        result.assert_outcomes(passed=1)


def test_the_ids_of_a_collection_run_alone(project: Project) -> None:
    project.write("sums_suite.yaml", SUITE)

    names = [line for line in project.run("--collect-only", "-q").outlines if "::" in line]

    assert len(names) == 4
    for name in names:
        result = project.run("-v", name)
        result.assert_outcomes(passed=1)
        assert list(project.record()[1]) == [name.partition("::")[2]]


def test_a_failure_passes_on_answer_and_expected_answer(project: Project) -> None:
    project.write("differences.py", DIFFERENCES)
    secret = {**WRONG, "key": "secret", "expected_output": "Write to jane.doe@example.com."}
    project.suite(
        WRONG, secret, {"key": "right", "prompt": "2+2?", "expected_output": "5", "condition": '"4"'}
    )

    project.run("-p", "differences").assert_outcomes(passed=1, failed=2)

    [difference, masked] = read(project, "differences.json")
    assert difference == ["==", "It is 6.", "It is 7."]
    assert "jane.doe" not in masked[2]


def test_a_failing_check_in_python_passes_them_on(project: Project) -> None:
    project.write("differences.py", DIFFERENCES)
    project.write(
        "test_sums.py",
        "def test_sum(eval_case, eval_text_matching):\n"
        "    case = eval_case('3+3?', 'It is 6.', expected_output='It is 7.', condition='\"7\"')\n"
        "    eval_text_matching.check(case)\n",
    )

    project.run("-p", "differences").assert_outcomes(failed=1)

    assert read(project, "differences.json") == [["==", "It is 6.", "It is 7."]]


def test_a_condition_without_an_expected_answer_has_no_difference(project: Project) -> None:
    project.write("differences.py", DIFFERENCES)
    project.suite({"key": "wrong", "prompt": "3+3?", "condition": '"7"'})

    project.run("-p", "differences").assert_outcomes(failed=1)

    assert read(project, "differences.json") == []
