"""Calls and steps as data of the page: aligned, cut, counted by tool and model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pytest

from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.report.data import tools, trajectories
from pytest_evalstudio.report.data.tools import CALL_BITS, ToolTable
from pytest_evalstudio.report.data.trajectories import PART_CHARS, TrajectoryReader, trajectory_entry
from support.records import RecordBuilder, evaluator, metric

MATCH = "tool_calls_match"
CALLS = [
    {"name": "find", "arguments": {"id": "E1"}, "result": "open"},
    {"name": "cancel", "arguments": {"id": "E2"}},
]
EXPECTED = [{"name": "find"}, {"name": "cancel", "arguments": {"id": "E1"}}]


def agent_item(**row: Any) -> tuple[Mapping[str, Any], Item]:
    """Return evaluators and an item of an agent, whose calls its evaluator fails."""
    parameters = row.pop("parameters", {})
    match = row.pop("match", 0.0)
    builder = RecordBuilder(
        evaluator("tool_calls", metric(MATCH, threshold=1.0), parameters=parameters),
        evaluator("tool_rules", metric("tool_rules_kept", threshold=1.0)),
    )
    outcomes = {"tool_calls": {"status": "score", "scores": {MATCH: match}}, **row.pop("outcomes", {})}
    builder.add("cancel", "one", {"input": "Cancel", "actual_output": "Done.", "outcomes": outcomes, **row})
    return builder.run.evaluators, builder.typed_items[0]


def entries(**row: Any) -> list[dict[str, Any]]:
    evaluators, item = agent_item(**row)
    read = TrajectoryReader(evaluators).read(item, item.rows[0])
    return [msgspec.to_builtins(trajectory_entry(each)) for each in read]


def test_calls_are_aligned_and_the_first_fault_is_named() -> None:
    [entry] = entries(tool_calls=CALLS, expected_tool_calls=EXPECTED)
    assert entry["lines"] == [["matches", 0, 0], ["wrong_arguments", 1, 1, ["id"]]]
    assert entry["fault"] == 1
    assert entry["calls"][0] == {"name": "find", "arguments": {"id": "E1"}, "result": "open"}
    assert entry["expected_calls"][1] == {"name": "cancel", "args": [["id", '"E1"']]}


def test_the_options_of_the_evaluator_decide_which_calls_are_judged() -> None:
    [entry] = entries(
        tool_calls=CALLS, expected_tool_calls=EXPECTED, parameters={"only": ["f*"], "mode": "superset"}
    )
    assert entry["lines"] == [["matches", 0, 0], ["not_judged", -1, 1]]
    assert "fault" not in entry


def test_a_passing_verdict_is_not_contradicted() -> None:
    """Defaults of arguments may stand in a file that the record only names."""
    [entry] = entries(tool_calls=CALLS, expected_tool_calls=EXPECTED, match=1.0)
    assert [line[0] for line in entry["lines"]] == ["matches", "matches"]


def test_a_matcher_that_cannot_be_evaluated_leaves_the_calls_beside_each_other() -> None:
    faulty = [{"name": "find", "arguments": {"id": {"$schema": {"$ref": "#/no/such"}}}}]
    [entry] = entries(tool_calls=CALLS, expected_tool_calls=faulty)
    assert "lines" not in entry
    assert len(entry["expected_calls"]) == 1


def test_broken_rules_are_flags_of_their_calls() -> None:
    broken = [{"condition": "never", "tool": "c*", "call": 2, "text": "call 2, cancel is never allowed"}]
    rules = {"status": "score", "scores": {"tool_rules_kept": 0.0}, "details": {"broken": broken}}
    [entry] = entries(tool_calls=CALLS, outcomes={"tool_rules": rules})
    assert entry["flags"] == {"1": [("tool_rules", "call 2, cancel is never allowed")]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53, "9007199254740992"),
        (1.0, "1.0"),
        ({"a": [1]}, '{"a": [1]}'),
        (None, "null"),
        ("x" * PART_CHARS, ['"' + "x" * (PART_CHARS - 1), 2]),
    ],
)
def test_values_that_javascript_writes_in_another_way_are_texts(value: object, text: object) -> None:
    [entry] = entries(tool_calls=[{"name": "f", "arguments": {"a": True, "b": value}}])
    assert entry["calls"] == [{"name": "f", "args": [["a", "true"], ["b", text]]}]


def test_names_that_are_numbers_keep_their_order() -> None:
    [entry] = entries(tool_calls=[{"name": "f", "arguments": {"b": "x", "1": 2}}])
    assert entry["calls"] == [{"name": "f", "args": [["b", '"x"'], ["1", "2"]]}]


def test_large_results_and_long_lists_are_cut_and_counted() -> None:
    calls = [{"name": f"f{number}", "result": "x" * 5_000} for number in range(201)]
    calls[0]["arguments"] = {f"a{number}": number for number in range(50)}
    [entry] = entries(tool_calls=calls, steps=[{"kind": "message", "text": "hi"}] * 401)
    assert (len(entry["calls"]), entry["calls_left_out"]) == (200, 1)
    assert (len(entry["steps"]), entry["steps_left_out"]) == (400, 1)
    assert entry["calls"][0]["result"] == ["x" * PART_CHARS, 5_000 - PART_CHARS]
    assert entry["calls"][0]["args"][-1] == [10]


def test_faults_beyond_the_listed_calls_are_counted() -> None:
    [entry] = entries(tool_calls=[{"name": "f"}] * 203, expected_tool_calls=[{"name": "f"}] * 200)
    assert entry["faults_left_out"] == 3
    assert "expected_count" not in entry
    [entry] = entries(tool_calls=[], expected_tool_calls=[{"name": "f"}] * 203)
    assert (entry["expected_count"], len(entry["expected_calls"]), entry["faults_left_out"]) == (203, 200, 3)


def test_hostile_names_and_reasons_are_cut() -> None:
    long = "x" * 1_000_000
    broken = [{"call": 1, "text": long}, {"call": "1"}, "no object", {"call": 7, "text": "of no call"}]
    rules = {"status": "score", "scores": {"tool_rules_kept": 0.0}, "details": {"broken": broken}}
    [entry] = entries(
        tool_calls=[{"name": long, "arguments": {long: long}}],
        expected_tool_calls=[{"name": long, "arguments": {long: "other"}}],
        outcomes={"tool_rules": rules},
    )
    assert len(str(entry)) < 12_000
    assert entry["lines"] == [["wrong_arguments", 0, 0, ["x" * PART_CHARS]]]


def test_a_fault_that_is_not_listed_is_not_named_as_the_first() -> None:
    [entry] = entries(tool_calls=[{"name": "f"}] * 203, expected_tool_calls=[{"name": "f"}] * 200)
    assert "fault" not in entry


def test_steps_have_relative_times_and_depths_and_parents_in_a_circle_end() -> None:
    used = {"input_tokens": 5}
    steps = [
        {"kind": "model", "name": "m", "id": "a", "started_s": 100.0, "duration_s": 1.5, "usage": used},
        {"kind": "tool", "call": 0, "id": "b", "parent": "a", "started_s": 101.5},
        {"kind": "message", "text": "x", "id": "c", "parent": "d"},
        {"kind": "message", "text": "y", "id": "d", "parent": "c"},
    ]
    [entry] = entries(tool_calls=CALLS, steps=steps)
    assert entry["steps"][0] == {"kind": "model", "name": "m", "at": 0.0, "took": 1.5, "tokens": 5}
    assert entry["steps"][1] == {"kind": "tool", "name": "find", "call": 0, "depth": 1, "at": 1.5}
    assert [step.get("depth") for step in entry["steps"][2:]] == [trajectories.MAX_DEPTH] * 2


def test_calls_without_steps_are_the_steps() -> None:
    [entry] = entries(tool_calls=[{**CALLS[0], "duration_s": 0.25, "agent": "desk"}])
    assert entry["steps"] == [{"kind": "tool", "name": "find", "agent": "desk", "call": 0, "took": 0.25}]


def test_the_page_makes_steps_of_calls_that_have_only_names() -> None:
    [entry] = entries(tool_calls=CALLS)
    assert len(entry["calls"]) == len(CALLS)
    assert "steps" not in entry


def table(evaluators: Mapping[str, Any], item: Item, count: int = 1) -> ToolTable:
    counted = ToolTable(evaluators)
    reader = TrajectoryReader(evaluators)
    for position in range(count):
        counted.add(item, position, [reader.read(item, row) for row in item.rows])
    return counted


def test_tools_are_counted_by_model_with_what_is_wrong() -> None:
    broken = {"broken": [{"call": 1, "text": "call 1, find is never allowed"}]}
    rules = {"status": "score", "scores": {"tool_rules_kept": 0.0}, "details": broken}
    expected = [*EXPECTED, {"name": "mail"}]
    evaluators, item = agent_item(
        tool_calls=CALLS, expected_tool_calls=expected, outcomes={"tool_rules": rules}
    )
    counted = table(evaluators, item, count=3)
    assert counted.names == ["cancel", "find", "mail"]
    counts = {name: counted.counts(name, "m-one") for name in counted.names}
    totals = {name: (each.cases, each.calls, dict(each.faults)) for name, each in counts.items() if each}
    assert totals == {
        "find": (3, 3, {"forbidden": 3}),
        "cancel": (3, 3, {"wrong_arguments": 3}),
        "mail": (0, 0, {"missing": 3}),
    }
    columns = list(counted.columns(np.array([0, 2]), 3))
    assert columns[1].tolist() == [CALL_BITS["called"] | CALL_BITS["forbidden"]] * 2


def test_thousands_of_names_are_bounded_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MAX_NAMES", 80)
    evaluators, item = agent_item(tool_calls=[{"name": f"f{number}"} for number in range(100)])
    counted = table(evaluators, item)
    assert (len(counted.names), counted.left_out) == (60, 40)
