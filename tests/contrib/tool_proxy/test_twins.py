"""Disturbed twins of cases in whole sessions: weak agents fail, robust, polite and guarded ones do not."""

from __future__ import annotations

from typing import Any

import pytest

from support.disturbed_agents import AGENT, ROBUST, SHOWN_BY, WEAK, cases, configuration
from support.project import Project

ALL = "tool_timeout,tool_error,tool_truncated,tool_empty,tool_instruction,tool_false_fact"
SECURITY, UTILITY = "secure_under_disturbance", "useful_under_disturbance"
COUNT = 6


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    desk_project = Project(pytester, with_app=False)
    desk_project.write("agent.py", AGENT)
    desk_project.suite(*cases(COUNT), name="desk_suite.json")
    return desk_project


def scores(project: Project) -> dict[tuple[str, str], dict[str, Any]]:
    """Return by model and key of the case its verdict, and the scores of its evaluators."""
    _, items = project.record()
    by_case = {}
    for name, item in items.items():
        key, _, model = name.rpartition("]")[0].partition("[")
        values: dict[str, Any] = {
            "verdict": item["verdict"],
            "reason": item["reason"],
            "flips": item["flips"],
        }
        for verdict in item["verdicts"].values():
            values |= verdict.get("scores", {})
        by_case[model, key] = values
    return by_case


def test_weak_agents_fail_their_twins_and_others_pass_all(project: Project) -> None:
    project.write("evalstudio.toml", configuration(*ROBUST, *WEAK, perturbations=ALL))
    result = project.run("desk_suite.json")
    result.stdout.fnmatch_lines(["*Misled by broken or poisoned tools*"])
    assert "Leak in the answer" not in result.stdout.str()
    results = scores(project)
    assert len(results) == COUNT * 7 * 6
    assert {values["verdict"] for (model, _), values in results.items() if model in ROBUST} == {"passed"}
    originals = {values["verdict"] for (_, key), values in results.items() if "-" not in key}
    assert originals == {"passed"}
    for mode in WEAK:
        for number in range(1, COUNT + 1):
            for disturbance in SHOWN_BY[mode]:
                values = results[mode, f"e{number}-{disturbance}"]
                assert (values["verdict"], values[SECURITY]) == ("failed", 0.0)
    assert "(OWASP ASI01)" in results["obeys", "e1-tool_instruction"]["reason"]
    assert "get_price is called 12 times" in results["retries", "e1-tool_error"]["reason"]
    assert "get_owner is called 50 times" in results["retries", "e2-tool_timeout"]["reason"]
    assert "states 701.77, which no tool" in results["invents", "e1-tool_empty"]["reason"]


def test_security_and_utility_are_scored_apart(project: Project) -> None:
    project.write("evalstudio.toml", configuration(*ROBUST, "obeys", perturbations=ALL))
    project.run("desk_suite.json")
    results = scores(project)
    instructed = {model: results[model, "e1-tool_instruction"] for model in (*ROBUST, "obeys")}
    assert {model: (values[SECURITY], values[UTILITY]) for model, values in instructed.items()} == {
        "robust": (1.0, 1.0),
        "polite": (1.0, 1.0),
        "guarded": (1.0, 0.0),
        "obeys": (0.0, 0.0),
    }
    broken = results["robust", "e1-tool_error"]
    assert (broken[SECURITY], broken[UTILITY]) == (1.0, 1.0)
    misled = results["robust", "e1-tool_false_fact"]
    assert (misled["verdict"], misled[SECURITY], misled[UTILITY]) == ("passed", 1.0, 0.0)
    # The pair: the condition is met by the original, and not by the twin, which does not fail for it.
    assert [(flip["evaluator"], flip["fails"]) for flip in misled["flips"]] == [("text_matching", False)]


def test_an_agent_whose_tools_are_not_wrapped_is_not_judged(project: Project) -> None:
    bare = AGENT.replace("@recorded_tool\n", "").replace("from pytest_evalstudio import recorded_tool\n", "")
    returns = bare.replace(
        "    return answered(result, mode, number)",
        '    calls = [{"name": "get_price", "arguments": {"code": code}, "result": result}]\n'
        '    return {"answer": answered(result, mode, number), "tool_calls": calls}',
    )
    for program, reason in (
        (bare, "no call of a disturbed tool"),
        (returns, "wrap the tools by `recorded_tool`"),
    ):
        project.write("agent.py", program)
        project.write("evalstudio.toml", configuration("robust", perturbations="tool_instruction"))
        project.run_process("desk_suite.json")
        _, items = project.record()
        verdict = items["e1-tool_instruction[robust]"]["verdicts"]["disturbed_tool_security"]
        assert verdict["status"] == "not_applicable"
        assert reason in verdict["reason"]


def test_a_disturbance_is_limited_to_tools_and_first_calls(project: Project) -> None:
    options = '[perturbator.tool_error]\ntool = "get_p*"\nfirst_calls = 1\n'
    project.write("evalstudio.toml", configuration("robust", perturbations="tool_error") + options)
    project.run("desk_suite.json").assert_outcomes(passed=2 * COUNT)
    _, items = project.record()
    calls = items["e1-tool_error[robust]"]["rows"][0]["answer"]["tool_calls"]
    assert [bool(call.get("error")) for call in calls] == [True, False]
    assert "tool_disturbance:error:get_p*:1" in items["e1-tool_error[robust]"]["rows"][0]["categories"]
    (call,) = items["e2-tool_error[robust]"]["rows"][0]["answer"]["tool_calls"]
    assert "error" not in call


def test_answers_that_a_command_asks_for_are_disturbed_as_well(project: Project) -> None:
    project.write("evalstudio.toml", configuration("invents", perturbations=""))
    perturb = project.run_command("perturb", "desk_suite.json", "-p", "tool_error", "-o", "twins_suite.json")
    assert perturb.ret == 0
    resolve = project.run_command("resolve", "twins_suite.json", "--model", "invents", "-o", "twins_lab.json")
    assert resolve.ret == 0
    project.run("twins_lab.json").assert_outcomes(passed=COUNT, failed=COUNT)
    _, items = project.record()
    assert "which no tool returned" in next(item["reason"] for item in items.values() if item["reason"])
