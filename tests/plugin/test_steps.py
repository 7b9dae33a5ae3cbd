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
    assert [step.kind for step in row.answer.steps] == ["model", "retrieval", "tool", "message", "agent"]
    assert (row.answer.steps[2].call, row.answer.tool_calls[0].result) == (0, "12A")
    assert "jane.doe" not in row.answer.steps[1].text + row.answer.steps[4].output
    assert row.answer.steps[4].output.startswith("Mail ")
    assert row.answer.steps[1].documents == (0,)
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
    assert (row.answer.steps[1].call, row.answer.tool_calls[0].name) == (0, "find")


def test_a_faulty_step_of_a_lab_is_named(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["effort"]\n')
    project.write("desk_lab.json", LAB % json.dumps([{"kind": "modell"}]))
    result = project.run()
    result.stdout.fnmatch_lines(["*desk_lab.json*step 0: expected the kind model, *found 'modell'*"])


SEARCHES = """
def ask(prompt):
    first = {"kind": "retrieval", "name": "faq", "documents": [0]}
    second = {"kind": "retrieval", "name": "fees", "documents": [1]}
    chunks = ["Seats are free.", "Bags cost 9 EUR." if "good" in prompt else "Bags fly too."]
    return {"answer": "9 EUR", "context": chunks, "steps": [first, second]}
"""
ON_STEPS = """
evaluators = ["labelled_retrieval", "fees_retrieval"]
[evaluator.labelled_retrieval]
on = {kind = "retrieval", decides = "best"}
[evaluator.fees_retrieval]
type = "labelled_retrieval"
on = {kind = "retrieval", name = "fees"}
[[model]]
name = "desk"
host = "python"
target = "app:ask"
"""


def test_an_evaluator_scores_the_retrieval_that_it_is_pointed_at(project: Project) -> None:
    project.write("evalstudio.toml", ON_STEPS)
    project.write("app.py", SEARCHES)
    project.suite(
        {"key": "good", "prompt": "What is a good fee?", "expected_chunks": ["Bags cost 9 EUR."]},
        {"key": "bad", "prompt": "What is the fee?", "expected_chunks": ["Bags cost 9 EUR."]},
        {"key": "other", "prompt": "Seat, good?", "expected_chunks": ["Seats are free."]},
    )
    result = project.run()
    result.assert_outcomes(passed=1, failed=2)
    rows = {item.key: item.rows[0].outcomes for item in recorded(project)}
    assert {key: [outcome.scores["recall"] for outcome in row.values()] for key, row in rows.items()} == {
        "good": [1.0, 1.0],
        "bad": [0.0, 0.0],
        "other": [1.0, 0.0],
    }
    assert rows["other"]["fees_retrieval"].reason == "step 2, fees: not retrieved: Seats are free."


def test_a_misspelt_selection_is_named_before_anything_runs(project: Project) -> None:
    project.write("evalstudio.toml", ON_STEPS.replace('kind = "retrieval", name', 'kind = "retrieve", name'))
    project.suite({"key": "a", "prompt": "Seat?"})
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*evalstudio.toml: evaluator.fees_retrieval.on: expected kind = *, found 'retrieve'*"]
    )
