"""Repeats of a question beside plugins that time items and run them again."""

from __future__ import annotations

import json

import pytest

from support.project import Project
from support.repeated import APP, CASES, FOUR, SPRT, configured, question_count


@pytest.mark.neighbours("pytest_timeout")
def test_an_item_on_its_own_is_asked_in_the_same_steps(project: Project) -> None:
    configured(project, SPRT)
    project.suite(*CASES)
    result = project.run("--timeout", "30")
    result.assert_outcomes(passed=1, failed=2)
    assert question_count(project) == 20


@pytest.mark.neighbours("pytest_rerunfailures")
def test_cases_that_pass_in_a_rerun_are_flaky_with_their_rate(project: Project) -> None:
    configured(project)
    project.write("app.py", APP.replace('"2+2?": ["4", "4", "5"]', '"2+2?": ["5", "4"]'))
    project.suite(FOUR)
    project.run_process("--reruns", "2").assert_outcomes(passed=1)
    data = json.loads((project.folder / "evalstudio-report" / "interpretation.json").read_text())
    [case] = data["repeats"]["flaky"]
    assert (case["over"], case["failed"], case["total"], case["rate"]) == ("attempts", 1, 2, 0.5)
