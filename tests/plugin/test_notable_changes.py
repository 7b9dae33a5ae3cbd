"""Changes beyond chance although every case passes: seconds, tokens, cost and calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.command import evalstudio
from support.project import PreparedProjects, Project

APP = """
import json
import time
from pathlib import Path

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.tool_calls import ToolCall


def ask(prompt):
    state = json.loads(Path("state.json").read_text())
    number = int(prompt.split()[-1])
    time.sleep(state["seconds"])
    calls = [ToolCall(name="find", arguments={"id": number})]
    if number in state["refunds"]:
        calls.append(ToolCall(name="refund", arguments={"id": number}))
    if number in state["others"]:
        calls[0] = ToolCall(name="find", arguments={"id": -1})
    tokens = state["tokens"] + number % 3
    usage = {"output_tokens": tokens, "input_tokens": 100}
    return Answer(text="right", tool_calls=calls, usage=usage, cost_usd=tokens / 1000)
"""
STATE = {"seconds": 0.0, "tokens": 50, "refunds": [], "others": []}
BASELINE = ("--evalstudio-baseline", "evalstudio-baseline.jsonl")
COUNT = 12


def save_baseline(project: Project) -> None:
    project.write("app.py", APP)
    project.suite(*({"key": f"k{n}", "prompt": f"q {n}", "condition": '"right"'} for n in range(COUNT)))
    state(project)
    project.run("-q").assert_outcomes(passed=COUNT)
    assert evalstudio("baseline", "save", folder=project.folder).returncode == 0


@pytest.fixture
def baseline_project(project: Project, project_store: PreparedProjects) -> Project:
    return project_store.fill(project, save_baseline)


def state(project: Project, **changes: object) -> None:
    project.write("state.json", json.dumps({**STATE, **changes}))


def comparison_of(project: Project) -> dict[str, Any]:
    path = project.folder / "evalstudio-report" / "comparison.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_unchanged_runs_say_nothing(baseline_project: Project) -> None:
    result = baseline_project.run("-q", *BASELINE)
    text = str(result.stdout)
    assert not any(word in text for word in ("seconds of", "tokens of", "cost of", "tool calls of"))
    assert [each["is_notable"] for each in comparison_of(baseline_project)["operations"]] == [False] * 5


def test_slower_and_dearer_answers_are_told(baseline_project: Project) -> None:
    state(baseline_project, seconds=0.15, tokens=90)

    result = baseline_project.run("-v", *BASELINE)

    result.assert_outcomes(passed=COUNT)
    result.stdout.fnmatch_lines(
        [
            "compared with run*",
            "seconds of app: 0.* -> 0.* s per answer (p *), most in k*",
            "tokens of app: 151 -> 191 per answer (p *), most in k*",
            "cost of app: 0.051 -> 0.091 USD per answer (p *), most in k*",
            "since run*",
            "  seconds of app: *",
            "  tokens of app: *",
            "  cost of app: *",
        ]
    )
    report = baseline_project.folder / "evalstudio-report"
    for name in ("summary.md", "interpretation.html"):
        assert "Tokens of app: 151" in (report / name).read_text(encoding="utf-8").replace("\\", "")
    comparison = evalstudio(
        "compare", "evalstudio-baseline.jsonl", "evalstudio-report", folder=baseline_project.folder
    )
    assert "tokens of app: 151 -> 191 per answer" in comparison.stdout


def test_a_small_or_rare_change_is_not_told(baseline_project: Project) -> None:
    state(baseline_project, tokens=55)
    baseline_project.run("-q", *BASELINE)
    operations = {each["quantity"]: each for each in comparison_of(baseline_project)["operations"]}
    assert operations["tokens"]["p_adjusted"] <= 0.05
    assert not operations["tokens"]["is_notable"]  # 3 %
    state(baseline_project, refunds=[3, 4, 5])
    baseline_project.run("-q", *BASELINE)
    operations = {each["quantity"]: each for each in comparison_of(baseline_project)["operations"]}
    assert not operations["tool_calls"]["is_notable"]  # 3 of 12 may be chance


def test_new_and_changed_calls_of_passing_cases_are_told(baseline_project: Project) -> None:
    state(baseline_project, refunds=[3], others=[5, 6])

    result = baseline_project.run("-q", *BASELINE)

    result.assert_outcomes(passed=COUNT)
    result.stdout.fnmatch_lines(
        [
            "since run*",
            "  tool calls of passing cases: refund new in 1 case, find with other arguments in 2*, e.g. k3",
        ]
    )
    kinds = [(each["kind"], each["tool"], each["keys"]) for each in comparison_of(baseline_project)["tools"]]
    assert kinds == [("new", "refund", ["k3"]), ("changed", "find", ["k5", "k6"])]


def test_more_calls_in_most_cases_are_told(baseline_project: Project) -> None:
    state(baseline_project, refunds=list(range(10)))
    result = baseline_project.run("-q", *BASELINE)
    result.stdout.fnmatch_lines(
        [
            "  number of tool calls of app: 1 -> 1.833 per answer (p *), most in k0",
            "  tool calls of passing cases: refund new in 10 cases, e.g. k0",
        ]
    )
