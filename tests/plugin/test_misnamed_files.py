"""A session that collects nothing beside a file that looks like ours."""

from __future__ import annotations

import pytest

from support.project import Project

CASE = {"key": "four", "prompt": "2+2?", "condition": '"4"'}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester, with_app=False)


def test_a_suite_with_another_name_is_named(project: Project) -> None:
    project.suite(CASE, name="fees.json")
    project.write("package.json", '{"name": "x", "tests": {}}')

    result = project.run()

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        [
            "evalstudio: fees.json looks like a suite, lab or data set: rename it, e.g. to fees_suite.json,"
            " or run `pytest fees.json`"
        ]
    )


def test_files_of_others_are_not(project: Project) -> None:
    project.write("package.json", '{"name": "x", "tests": {}}')
    project.write("compose.yaml", "services: {}\n")

    result = project.run()

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "evalstudio:" not in result.stdout.str()


def test_a_session_with_tests_looks_for_none(project: Project) -> None:
    project.suite(CASE, name="fees.json")
    project.write("test_one.py", "def test_one():\n    pass\n")

    assert "evalstudio:" not in project.run().stdout.str()
