"""Recording and replay of wrapped tools by `[tools]`, in whole sessions."""

from __future__ import annotations

import stat

import pytest

from contrib.tool_proxy.conftest import recorded
from support.project import PreparedProjects, Project

AGENT = """
from pytest_evalstudio import recorded_tool

CALLS = __file__ + ".log"


def noted(name):
    with open(CALLS, "a") as file:
        file.write(name + " ")


@recorded_tool
def get_rate(currency):
    noted("get_rate")
    if currency == "XXX":
        raise KeyError("no such currency")
    return {"rate": RATE, "code": "90"}


@recorded_tool
async def get_name(currency):
    noted("get_name")
    return "90"


async def ask(prompt):
    currency = prompt.split()[-1].strip("?")
    try:
        rate = get_rate(currency)
    except Exception as exc:
        return f"It failed: {exc}"
    name = await get_name(currency)
    return f"The rate is {rate['rate']} for {name!r}, {rate['code']!r}."
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "desk"
host = "python"
target = "agent:ask"

[tools]
proxy = "record"
recording = "tools.jsonl"
"""
CASES = (
    {"key": "rate", "prompt": "What is the rate of NOK?", "condition": "\"rate is 9.5 for '90', '90'\""},
    {"key": "unknown", "prompt": "What is the rate of XXX?", "condition": '"no such currency"'},
)


def record_tools(project: Project) -> None:
    project.write("agent.py", AGENT.replace("RATE", "9.5"))
    project.write("evalstudio.toml", CONFIG)
    project.suite(*CASES, name="desk_suite.json")
    project.run("desk_suite.json").assert_outcomes(passed=2)


@pytest.fixture
def project(pytester: pytest.Pytester, project_store: PreparedProjects) -> Project:
    return project_store.fill(Project(pytester, with_app=False), record_tools)


def log_of(project: Project) -> list[str]:
    return (project.folder / "agent.py.log").read_text().split()


def test_a_replay_calls_no_tool_and_gives_the_recorded_results(project: Project) -> None:
    recording = project.folder / "tools.jsonl"
    assert stat.S_IMODE(recording.stat().st_mode) == 0o600
    by_tool = {
        (exchange["tool"], exchange["arguments"]["currency"]): exchange for exchange in recorded(recording)
    }
    assert by_tool["get_rate", "NOK"]["result"] == '{"rate": 9.5, "code": "90"}'
    assert by_tool["get_name", "NOK"]["result"] == '"90"'
    assert "no such currency" in by_tool["get_rate", "XXX"]["error"]
    ran = log_of(project)
    project.write("agent.py", AGENT.replace("RATE", "0.1"))
    project.write("evalstudio.toml", CONFIG.replace('"record"', '"replay"'))
    project.run("desk_suite.json").assert_outcomes(passed=2)
    assert log_of(project) == ran


def test_an_unrecorded_call_ends_the_answer_and_a_live_tool_is_called(project: Project) -> None:
    ran = log_of(project)
    new = {"key": "new", "prompt": "What is the rate of SEK?", "condition": '"rate is 9.5"'}
    project.suite(new, name="desk_suite.json")
    replay = CONFIG.replace('"record"', '"replay"')
    project.write("evalstudio.toml", replay)
    refused = project.run("desk_suite.json")
    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines(['*the replay was ended by the call get_rate(currency="SEK")*'])
    assert log_of(project) == ran
    project.write("evalstudio.toml", replay + 'live = ["get_*"]\n')
    project.run("desk_suite.json").assert_outcomes(passed=1)
    assert log_of(project) == [*ran, "get_rate", "get_name"]


def test_a_recording_serves_disturbed_twins_without_the_tools(project: Project) -> None:
    ran = log_of(project)
    config = CONFIG.replace('"record"', '"replay"').replace(
        'evaluators = ["text_matching"]', 'evaluators = ["text_matching", "disturbed_tool_security"]'
    )
    project.write("evalstudio.toml", config + '[perturbations]\napply = "tool_false_fact"\n')
    project.run("desk_suite.json").assert_outcomes(passed=4)
    _, items = project.record()
    answer = items["rate-tool_false_fact[desk]"]["rows"][0]["answer"]["actual_output"]
    assert answer == "The rate is 1.5 for '10', '10'."
    assert log_of(project) == ran


def test_a_missing_recording_is_a_fault_of_the_configuration(project: Project) -> None:
    missing = CONFIG.replace('"record"', '"replay"').replace("tools.jsonl", "none.jsonl")
    project.write("evalstudio.toml", missing)
    run = project.run("desk_suite.json")
    text = run.stdout.str() + run.stderr.str()
    assert "tools.recording" in text
    assert "none.jsonl: No such file or directory; record one before" in text
    assert "Traceback" not in text
