"""Steps of an application, from its reply to record, exports and a second run."""

from __future__ import annotations

import json

import msgspec

from pytest_evalstudio.record.schema import Item
from support.project import Project

CONFIG = """
evaluators = ["effort"]
[evaluator.effort]
max_model_calls = 1
[[model]]
name = "desk"
host = "python"
target = "app:ask"
"""
APP = """
def ask(prompt):
    model = {"kind": "model", "name": "small", "usage": {"input_tokens": 7}}
    steps = [model] * (2 if "twice" in prompt else 1)
    steps += [
        {"kind": "retrieval", "name": "faq", "text": "seat of jane.doe@example.com", "documents": [0]},
        {"kind": "tool", "name": "find", "arguments": {"code": "E1"}, "result": "12A"},
        {"kind": "message", "text": "Done."},
    ]
    steps.append({"kind": "agent", "name": "desk", "output": "Mail jane.doe@example.com"})
    return {"answer": "Your seat is 12A.", "context": ["Seats are free."], "steps": steps}
"""
LAB = """{"name": "L", "models": [{"key": "m", "name": "m"}], "dataset": {"inputs": [
    {"key": "a", "model_key": "m", "input": "Seat?", "actual_output": "12A", "steps": %s}]}}"""


def recorded(project: Project) -> list[Item]:
    path = project.folder / "evalstudio-report" / "record.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Item) for line in lines if '"kind":"item"' in line]


def test_steps_are_recorded_limited_and_exported(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG)
    project.write("app.py", APP)
    project.suite({"key": "once", "prompt": "Seat?"}, {"key": "twice", "prompt": "Seat, twice?"})
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*model_calls: 2, at most 1 allowed*"])
    row = {item.key: item for item in recorded(project)}["once"].rows[0]
    assert [step.kind for step in row.steps] == ["model", "retrieval", "tool", "message", "agent"]
    assert (row.steps[2].call, row.tool_calls[0].result) == (0, "12A")
    assert "jane.doe" not in row.steps[1].text + row.steps[4].output
    assert row.steps[4].output.startswith("Mail ")
    assert row.steps[1].documents == (0,)
    assert row.outcomes["effort"].scores["model_calls"] == 1.0
    results = "global_llm_eval_results/application_json/explanation.json"
    [export] = (project.folder / "evalstudio-report").glob(f"**/{results}")
    entry = json.loads(export.read_text(encoding="utf-8"))["results"][0]
    assert [step["kind"] for step in entry["steps"]] == ["model", "retrieval", "tool", "message", "agent"]


def test_steps_of_a_lab_are_read(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["effort"]\n')
    steps = [{"kind": "model", "name": "small"}, {"kind": "tool", "name": "find"}]
    project.write("desk_lab.json", LAB % json.dumps(steps))
    project.run().assert_outcomes(passed=1)
    row = recorded(project)[0].rows[0]
    assert (row.steps[1].call, row.tool_calls[0].name) == (0, "find")


def test_a_faulty_step_of_a_lab_is_named(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["effort"]\n')
    project.write("desk_lab.json", LAB % json.dumps([{"kind": "modell"}]))
    result = project.run()
    result.stdout.fnmatch_lines(["*desk_lab.json*step 0: expected the kind model, *found 'modell'*"])
