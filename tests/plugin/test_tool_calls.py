"""Calls of tools from a suite to the record, with a perfect and a broken agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.project import Project

CONFIG = """
evaluators = ["tool_calls", "tool_rules", "effort"]
[[model]]
name = "right"
host = "python"
target = "app:right"
[[model]]
name = "wrong"
host = "python"
target = "app:wrong"
[evaluator.tool_rules]
rules = [{ tool = "cancel_*", after = "get_*" }]
[evaluator.effort]
max_calls = 2
"""
APP = """
def call(name, **arguments):
    return {"function": {"name": name, "arguments": arguments}}


def right(prompt):
    return {"answer": "Done.", "tool_calls": [call("get_booking", id="E1"), call("cancel_booking", id="E1")]}


def wrong(prompt):
    return {"answer": "Done.", "tool_calls": [call("cancel_booking", id="E2")] * 3}
"""
CASE = {
    "key": "cancel",
    "prompt": "Cancel E1",
    "expected_tool_calls": [
        {"name": "get_booking"},
        {"name": "cancel_booking", "arguments": {"id": {"$regex": "^E1$"}}, "other_arguments": "forbid"},
    ],
}


@pytest.fixture
def agent(project: Project) -> Project:
    project.write("evalstudio.toml", CONFIG)
    project.write("app.py", APP)
    return project


def test_the_right_agent_passes_and_the_wrong_one_fails(agent: Project) -> None:
    agent.suite(CASE)
    result = agent.run()
    result.assert_outcomes(passed=1, failed=1)
    _, items = agent.record()
    right, wrong = items["cancel[right]"], items["cancel[wrong]"]
    assert {id: verdict["passed"] for id, verdict in right["verdicts"].items()} == dict.fromkeys(
        ("tool_calls", "tool_rules", "effort"), True
    )
    assert {id: verdict["passed"] for id, verdict in wrong["verdicts"].items()} == dict.fromkeys(
        ("tool_calls", "tool_rules", "effort"), False
    )
    reason = wrong["rows"][0]["outcomes"]["tool_calls"]["reason"]
    assert reason.startswith("missing: get_booking(); wrong arguments: cancel_booking (call 1): id=")
    assert wrong["rows"][0]["outcomes"]["tool_rules"]["reason"].startswith(
        "call 1, cancel_booking before get_*"
    )
    assert wrong["rows"][0]["outcomes"]["effort"]["reason"] == "calls: 3, at most 2 allowed"
    assert right["rows"][0]["answer"]["tool_calls"][0] == {"name": "get_booking", "arguments": {"id": "E1"}}
    assert right["rows"][0]["expected_tool_calls"][1] == CASE["expected_tool_calls"][1]


def test_the_message_names_the_failed_step_with_expected_and_actual_call(agent: Project) -> None:
    agent.suite(CASE)
    result = agent.run("-k", "wrong")
    lines = result.stdout.lines
    start = next(index for index, line in enumerate(lines) if line.startswith("failed step"))
    assert lines[start : start + 3] == [
        "failed step: before the first call: missing",
        "  expected: get_booking()",
        "  actual:   no call",
    ]


@pytest.mark.parametrize(
    ("calls", "expected", "lines"),
    [
        (
            [{"name": "get", "arguments": {"id": 2}, "result": "none"}],
            [{"name": "get", "arguments": {"id": 1}}],
            ["call 1 of 1: wrong arguments", "get(id=1)", "get(id=2)", "none"],
        ),
        ([{"name": "get"}, {"name": "get"}], ["get"], ["call 2 of 2: unexpected", "no call", "get()"]),
        ([{"name": "get"}], ["get", "mail"], ["after call 1 of 1: missing", "mail()", "no call"]),
        (
            [{"name": "get", "error": "\x1b[31m" + "x" * 5_000_000}],
            [],
            ["call 1 of 1: unexpected", "no call", "get()", r"\x1b[31m" + "x" * 294 + "…"],
        ),
    ],
)
def test_the_failed_step_takes_at_most_four_lines(
    agent: Project, calls: list[Any], expected: list[Any], lines: list[str]
) -> None:
    agent.write("evalstudio.toml", 'evaluators = ["tool_calls"]\n')
    row = {"key": "k", "input": "?", "actual_output": "Done.", "model_key": "m", "tool_calls": calls}
    agent.lab({**row, "expected_tool_calls": expected})
    output = agent.run("answers_lab.json").stdout.lines
    start = next(index for index, line in enumerate(output) if line.startswith("failed step"))
    end = next(index for index, line in enumerate(output) if line.startswith("question:"))
    assert end - start == len(lines) <= 4
    assert [line.partition(": ")[2].strip() for line in output[start:end]] == lines


def test_a_lab_is_judged_as_the_suite_is(agent: Project) -> None:
    rows: list[dict[str, Any]] = [
        {
            "key": key,
            "input": "Cancel E1",
            "actual_output": "Done.",
            "model_key": "m",
            "expected_tool_calls": CASE["expected_tool_calls"],
            "tool_calls": calls,
        }
        for key, calls in (
            ("right", [{"type": "tool_use", "name": "get_booking", "input": {}}, _cancel("E1")]),
            ("wrong", [_cancel("E2")]),
        )
    ]
    agent.write("evalstudio.toml", 'evaluators = ["tool_calls"]\n')
    agent.lab(*rows)
    agent.run("answers_lab.json").assert_outcomes(passed=1, failed=1)


def _cancel(booking: str) -> dict[str, Any]:
    return {"function": {"name": "cancel_booking", "arguments": json.dumps({"id": booking})}}


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ([{"nam": "x"}], "call 0: 'nam' is not a key of an expected call. Did you mean 'name'?"),
        ([{"name": "x", "arguments": {"a": {"$reges": "b"}}}], "argument 'a': '$reges' is no matcher."),
        ([{"name": "x", "arguments": ["a"]}], "call 0: arguments: expected an object"),
        ([{"name": "x", "other_arguments": "refuse"}], 'other_arguments: expected "allow" or "forbid"'),
        ("x", "expected a list of calls"),
        ([{"arguments": {}}], "call 0: the name of the tool is missing"),
    ],
)
def test_a_faulty_expectation_is_reported_at_its_place(agent: Project, expected: Any, message: str) -> None:
    agent.suite({**CASE, "expected_tool_calls": expected})
    result = agent.run()
    text = " ".join(str(result.stdout).split())
    assert "/tests/0/test_cases/0/expected_tool_calls" in text
    assert message in text
    assert "Traceback" not in text


CHECKS = """
def test_right(eval_tool_calls, eval_case):
    case = eval_case("Cancel E1", "Done.", tool_calls=[{"name": "cancel", "arguments": {"id": "E1"}}],
                     expected_tool_calls=[{"name": "cancel", "arguments": {"id": "E1"}}])
    eval_tool_calls.check(case)


def test_wrong(eval_tool_calls, eval_case):
    case = eval_case("Cancel E1", "Done.", tool_calls=["search"], expected_tool_calls=["cancel"])
    eval_tool_calls.check(case)
"""


def test_calls_are_checked_in_python(agent: Project) -> None:
    agent.write("test_checks.py", CHECKS)
    result = agent.run("test_checks.py")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*missing: cancel(); unexpected: search()*"])


@pytest.mark.parametrize(
    ("gate", "met"),
    [
        ("p95(effort.seconds) <= 60", True),
        ("effort.calls <= 1.5", False),
        ("p95(effort.calls) <= 2", True),
        ("effort.cost_usd <= 0.01", False),  # the host reports no cost
    ],
)
def test_gates_on_effort(agent: Project, gate: str, met: bool) -> None:
    agent.write("evalstudio.toml", f'gate = ["{gate}"]\n{CONFIG}')
    agent.suite(CASE)
    result = agent.run("-v", "--evalstudio-model=right")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"gate {gate}: {'met' if met else 'not met'} (right *)".replace("[", "[[]")])
    assert bool(result.ret) is not met
