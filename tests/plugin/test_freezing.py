"""Suites frozen from a run that retrieves from documents."""

from __future__ import annotations

import json

import pytest

from support.project import Project

CONFIG = """
evaluators = ["text_matching", "document_recall"]
[[model]]
name = "rag"
host = "extractive"
"""
CASE = {
    "key": "fee",
    "prompt": "What does a transfer cost?",
    "condition": '"5 USD"',
    "expected_documents": ["fees.md"],
}


@pytest.fixture
def project(project: Project) -> Project:
    project.write("evalstudio.toml", CONFIG)
    project.write("fees.md", "A transfer costs 5 USD.\n")
    test = {"key": "t", "documents": ["fees.md"], "test_cases": [CASE]}
    project.write("fees_suite.json", json.dumps({"name": "Fees", "tests": [test]}))
    return project


def test_a_frozen_case_is_answered_from_its_documents(project: Project) -> None:
    project.run("fees_suite.json").assert_outcomes(passed=1)
    assert project.run_command("freeze", "evalstudio-report", "-o", "frozen_suite.json").ret == 0
    project.run("frozen_suite.json").assert_outcomes(passed=1)
    project.write("fees.md", "A transfer costs 6 USD.\n")
    project.run("frozen_suite.json").assert_outcomes(failed=1)
    project.write("other.md", "A transfer costs 5 USD.\n")
    frozen = json.loads((project.folder / "frozen_suite.json").read_text())
    frozen["tests"][0]["documents"] = ["other.md"]
    project.write("other_suite.json", json.dumps(frozen))
    project.run("other_suite.json").assert_outcomes(failed=1)


def test_documents_that_the_folder_of_a_frozen_suite_lacks_are_named(project: Project) -> None:
    project.run("fees_suite.json")
    frozen = project.run_command("freeze", "evalstudio-report", "-o", "elsewhere/frozen_suite.json")
    assert "its folder lacks fees.md, which its cases name; copy" in frozen.stderr.str()
