"""Runs whose perturbed questions call other tools."""

from __future__ import annotations

import pytest

from support.project import Project

APP = """
def steady(prompt):
    return {"answer": "Done.", "tool_calls": [{"name": "cancel", "arguments": {"code": "E1"}}]}

def fragile(prompt):
    name = "cancel" if prompt == "Cancel my booking E1, please" else "search"
    return {"answer": "", "tool_calls": [{"name": name, "arguments": {"code": "E1"}}]}
"""
CONFIG = """
evaluators = ["tool_consistency"]
[[model]]
name = "desk"
host = "python"
target = "app:{target}"
"""


@pytest.mark.parametrize(("target", "failed"), [("steady", 0), ("fragile", 1)])
def test_changed_tools_of_a_run_fail_the_perturbed_case(project: Project, target: str, failed: int) -> None:
    project.write("evalstudio.toml", CONFIG.format(target=target))
    project.write("app.py", APP)
    project.suite({"key": "cancel", "prompt": "Cancel my booking E1, please"})
    result = project.run("--evalstudio-perturb", "qwerty:high", "-rA")
    result.assert_outcomes(passed=1 - failed, failed=failed, skipped=1)  # the original has no original
    if failed:
        assert "more calls than for the original question: search" in result.stdout.str()


def test_a_perturbation_that_changes_the_meaning_is_not_scored(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG.format(target="fragile"))
    project.write("app.py", APP)
    project.suite({"key": "cancel", "prompt": "Cancel my booking E1, please"})
    result = project.run("--evalstudio-perturb", "encoding_base64", "-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*(tool_consistency: * is missing or not comparable)"])
