"""Odd and hostile calls have a clear outcome; they are masked, and nothing prints a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.project import Project

CONFIG = """
evaluators = ["tool_calls", "tool_rules", "effort"]
[[model]]
name = "app"
host = "python"
target = "app:ask"
[evaluator.tool_rules]
rules = [{ tool = "*", at_most = 20000 }]
"""
APP = """
import json


def ask(prompt):
    return {"answer": "Done.", "tool_calls": json.load(open("calls.json"))}
"""
SECRETS = ("jane@bank.com", "4111 1111 1111 1111", "hunter2x")


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"id": 1}
    for _ in range(depth):
        value = {"id": value}
    return value


def run(project: Project, calls: Any, *expected: Any) -> pytest.RunResult:
    project.write("evalstudio.toml", CONFIG)
    project.write("app.py", APP)
    project.write("calls.json", json.dumps(calls))
    project.suite({"key": "k", "prompt": "Cancel E1", "expected_tool_calls": list(expected) or ["cancel"]})
    result = project.run()
    assert "Traceback" not in str(result.stdout)
    assert "INTERNALERROR" not in str(result.stdout)
    return result


def row(project: Project) -> dict[str, Any]:
    [item] = project.record()[1].values()
    [recorded] = item["rows"]
    return recorded


@pytest.mark.parametrize(
    ("call", "passed"),
    [
        pytest.param({"name": "cancel", "arguments": "{not json"}, False, id="arguments that are no JSON"),
        pytest.param({"name": "cancel", "arguments": {"id": "E1"}}, True, id="a call without a result"),
        pytest.param({"name": "cancel", "arguments": nested(200)}, False, id="nested 200 deep"),
        pytest.param(
            {"name": "cancel", "arguments": {"id": "E1\x1b[2J\x00"}}, False, id="control characters"
        ),
        pytest.param(
            {"name": "cancel", "arguments": {"id": "E1"}, "result": "x" * 5_000_000},
            True,
            id="5 MB of result",
        ),
    ],
)
def test_an_odd_call_is_judged(project: Project, call: dict[str, Any], passed: bool) -> None:
    result = run(project, [call], {"name": "cancel", "arguments": {"id": "E1"}})
    result.assert_outcomes(passed=int(passed), failed=int(not passed))
    recorded = row(project)["answer"]["tool_calls"][0]
    assert len(json.dumps(recorded)) < 25_000
    assert "\x1b" not in str(result.stdout)
    assert not recorded.get("result") or recorded["result"].endswith("… (5,000,000 characters)")


def test_two_calls_of_one_id_are_two_calls(project: Project) -> None:
    calls = [{"name": "cancel", "id": "c1"}, {"name": "cancel", "id": "c1"}]
    run(project, calls).assert_outcomes(failed=1)
    run(project, calls, "cancel", "cancel").assert_outcomes(passed=1)


def test_ten_thousand_calls_are_judged(project: Project) -> None:
    calls = [{"name": "search", "arguments": {"page": page}} for page in range(10_000)]
    run(project, calls, "cancel").assert_outcomes(failed=1)
    outcome = row(project)["outcomes"]["tool_calls"]
    assert outcome["reason"].startswith("missing: cancel(); unexpected: search(page=0), ")
    assert outcome["reason"].endswith(" and 9995 more")
    assert row(project)["outcomes"]["effort"]["scores"]["calls"] == 10_000


@pytest.mark.parametrize("calls", [[7], [{}], "cancel()", {"a": 1}, [{"name": ["x"]}]])
def test_what_is_no_call_is_an_error_of_the_model(project: Project, calls: Any) -> None:
    result = run(project, calls)
    result.assert_outcomes(errors=1)
    assert "tool_calls" in str(result.stdout)


def test_secrets_in_calls_are_masked_everywhere(project: Project) -> None:
    text = " ".join([SECRETS[0], SECRETS[1], f"password={SECRETS[2]}"])
    call = {"name": "mail", "arguments": {"to": text, "list": [text]}, "result": text, "error": text}
    result = run(
        project, [call, {"name": "mail", "arguments": text}], {"name": "mail", "arguments": {"to": "x"}}
    )
    result.assert_outcomes(failed=1)
    report = project.folder / "evalstudio-report"
    contents = [str(result.stdout), *(path.read_text("utf-8", "replace") for path in report.rglob("*.*"))]
    assert len(contents) > 5
    assert not [secret for secret in SECRETS for content in contents if secret in content]
