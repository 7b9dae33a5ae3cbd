"""Causes of regressions of an agent: a tool that returns something else, or another order of calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from support.project import PreparedProjects, Project

AGENT = """
from pytest_evalstudio import recorded_tool

RATE = 9.0
REFUND_FIRST = False
EFFECTS = []


@recorded_tool
def get_rate(currency):
    EFFECTS.append(currency)
    return RATE


@recorded_tool
def get_booking(code):
    EFFECTS.append(code)
    return {"code": code, "price": 10}


@recorded_tool
def refund(code):
    EFFECTS.append(code)
    return "ok"


class Calls(list):
    def call(self, tool, **arguments):
        result = tool(**arguments)
        self.append({"name": tool.__name__, "arguments": arguments, "result": result})
        return result


def ask(prompt):
    calls = Calls()
    if "refund" in prompt:
        order = [refund, get_booking] if REFUND_FIRST else [get_booking, refund]
        for tool in order:
            calls.call(tool, code="E1")
        return {"answer": "Refunded.", "tool_calls": calls}
    price = calls.call(get_booking, code="E1")["price"]
    rate = calls.call(get_rate, currency="NOK")
    return {"answer": f"It costs {price * rate:g} NOK.", "tool_calls": calls}
"""
CONFIG = """
evaluators = ["text_matching", "tool_calls"]

[evaluator.tool_calls]
mode = "exact"

[[model]]
name = "desk"
host = "python"
target = "agent:ask"
"""
CASES = (
    {"key": "price", "prompt": "What does E1 cost in NOK?", "condition": '"90 NOK"'},
    {
        "key": "refund",
        "prompt": "Please refund E1.",
        "expected_tool_calls": [
            {"name": "get_booking", "arguments": {"code": "E1"}},
            {"name": "refund", "arguments": {"code": "E1"}},
        ],
    },
)


def save_baseline(project: Project) -> None:
    project.write("agent.py", AGENT)
    project.write("evalstudio.toml", CONFIG)
    project.suite(*CASES, name="desk_suite.json")
    project.run("desk_suite.json").assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0


@pytest.fixture
def project(pytester: pytest.Pytester, project_store: PreparedProjects) -> Project:
    """An agent whose baseline has passed."""
    return project_store.fill(Project(pytester, with_app=False), save_baseline)


def causes(project: Project) -> Mapping[str, Any]:
    project.run("desk_suite.json", "--evalstudio-baseline=evalstudio-baseline.jsonl", "--evalstudio-explain")
    header, _ = project.record()
    return {entry["key"]: entry for entry in header.get("causes", {}).values()}


def test_a_tool_that_returns_something_else_is_the_cause(project: Project) -> None:
    project.write("agent.py", AGENT.replace("RATE = 9.0", "RATE = 0.9"))
    entry = causes(project)["price"]
    assert (entry["code"], entry["basis"]) == ("tool", "replay")
    assert entry["text"] == "tool `get_rate`: returned 0.9 instead of 9.0"


def test_a_replay_calls_no_tool_with_a_recorded_result(project: Project) -> None:
    counting = AGENT.replace("RATE = 9.0", "RATE = 0.9").replace(
        "    EFFECTS.append(currency)\n",
        "    open(__file__ + '.log', 'a').write('x')\n",
    )
    project.write("agent.py", counting)
    assert causes(project)["price"]["code"] == "tool"
    assert (project.folder / "agent.py.log").read_text() == "x"  # the run alone


def test_another_order_of_calls_after_the_same_results_is_the_agent(project: Project) -> None:
    project.write("agent.py", AGENT.replace("REFUND_FIRST = False", "REFUND_FIRST = True"))
    entry = causes(project)["refund"]
    assert (entry["code"], entry["basis"]) == ("agent", "fingerprints")
    assert entry["text"] == "agent: from its first call, calls `refund` before `get_booking`"


def test_the_results_before_the_first_divergence_are_named(project: Project) -> None:
    changed = AGENT.replace(
        'rate = calls.call(get_rate, currency="NOK")', 'calls.call(refund, code="E1"); rate = 1'
    )
    project.write("agent.py", changed)
    entry = causes(project)["price"]
    assert entry["text"] == "agent: same results, calls `refund` instead of `get_rate`"
    assert entry["details"][0].startswith('before it: `get_booking(code="E1")` returned')


def test_a_tool_that_is_not_wrapped_is_not_called_again(project: Project) -> None:
    bare = AGENT.replace("@recorded_tool\n", "").replace("from pytest_evalstudio import recorded_tool\n", "")
    project.write("agent.py", bare.replace("RATE = 9.0", "RATE = 0.9"))
    entry = causes(project)["price"]
    assert entry["code"] == "not_tested"
    assert "a replay would call `get_booking`, `get_rate`" in entry["text"]
    assert entry.get("calls", 0) == 0
    assert entry["details"][0] == "tool `get_rate` returned 0.9 instead of 9.0"


def test_an_agent_that_cannot_be_asked_again_is_not_blamed_for_chance(project: Project) -> None:
    bare = AGENT.replace("@recorded_tool\n", "").replace("from pytest_evalstudio import recorded_tool\n", "")
    project.write("agent.py", bare.replace("REFUND_FIRST = False", "REFUND_FIRST = True"))
    entry = causes(project)["refund"]
    assert entry["code"] == "not_tested"
    assert entry["details"] == ["the agent calls `refund` before `get_booking`"]
    project.write("evalstudio.toml", CONFIG + "deterministic = true\n")
    assert causes(project)["refund"]["code"] == "agent"


def test_an_undeclared_tool_ends_a_replay_that_would_call_it_anew(project: Project) -> None:
    call = '    rate = calls.call(get_rate, currency="NOK")\n'
    further = '    if rate > 1:\n        calls.call(refund, code="E2")\n'
    other_path = AGENT.replace("RATE = 9.0", "RATE = 0.9").replace(call, call + further)
    project.write("agent.py", other_path)
    entry = causes(project)["price"]
    assert entry["code"] == "not_tested"
    assert 'refund(code="E2")' in entry["text"]
    project.write("evalstudio.toml", CONFIG + "\n[cause.tools.refund]\nreplay = true\n")
    assert causes(project)["price"]["code"] == "tool"


def test_two_reasons_of_an_agent_are_several(project: Project) -> None:
    changed = AGENT.replace("RATE = 9.0", "RATE = 0.9").replace('"price": 10}', '"price": 11}')
    project.write("agent.py", changed)
    entry = causes(project)["price"]
    assert entry["code"] == "several"
    assert entry["text"] == (
        "several: passes only with the baseline's results of `get_booking` and results of `get_rate` together"
    )


STATEFUL = """
DONE = []
FAILS = False


def ask(prompt):
    DONE.append(prompt)
    return {"answer": "no" if FAILS else "Blocked.", "state": {"cards": len(DONE)}}
"""


def test_an_application_with_a_state_is_not_asked_again(pytester: pytest.Pytester) -> None:
    project = Project(pytester, with_app=False)
    project.write("app.py", STATEFUL)
    config = 'evaluators = ["text_matching"]\n[[model]]\nname = "desk"\nhost = "python"\ntarget = "app:ask"\n'
    project.write("evalstudio.toml", config)
    project.suite({"key": "block", "prompt": "Block it.", "condition": '"Blocked"'}, name="desk_suite.json")
    project.run("desk_suite.json").assert_outcomes(passed=1)
    assert project.run_command("baseline", "save").ret == 0
    log = "\n    open(__file__ + '.log', 'a').write('x')"
    changed = STATEFUL.replace("FAILS = False", "FAILS = True").replace("(prompt):", f"(prompt):{log}")
    project.write("app.py", changed)
    entry = causes(project)["block"]
    assert entry["code"] == "not_tested"
    assert "keeps a state or session" in entry["text"]
    assert (project.folder / "app.py.log").read_text() == "x"


def test_a_conversation_is_not_replayed(pytester: pytest.Pytester) -> None:
    project = Project(pytester, with_app=False)
    app = 'def ask(prompt, conversation):\n    return "yes"\n'
    project.write("app.py", app)
    config = 'evaluators = ["text_matching"]\n[[model]]\nname = "desk"\nhost = "python"\ntarget = "app:ask"\n'
    project.write("evalstudio.toml", config)
    turns = [{"prompt": "Hello?"}, {"prompt": "Is it open?", "condition": '"yes"'}]
    project.suite({"key": "open", "turns": turns}, name="desk_suite.json")
    project.run("desk_suite.json").assert_outcomes(passed=1)
    assert project.run_command("baseline", "save").ret == 0
    project.write("app.py", app.replace("yes", "closed"))
    entry = causes(project)["open"]
    assert (entry["code"], entry.get("calls", 0)) == ("not_tested", 0)
    assert "it is a conversation" in entry["text"]
