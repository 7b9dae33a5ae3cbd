"""Expected calls beside actual ones, c = cancel(id), s = search: state, expectation and call of each line."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.metrics.call_lines import CallRules, align_calls, first_fault, read_rules
from pytest_evalstudio.metrics.tool_calls import Mode


def calls(text: str) -> list[ToolCall]:
    return [
        ToolCall(name=word[0], arguments={"id": int(word[1:])} if word[1:] else {}) for word in text.split()
    ]


def expectations(text: str) -> list[ExpectedToolCall]:
    return [ExpectedToolCall(name=call.name, arguments=call.arguments) for call in calls(text)]


def lines(actual: str, expected: str, rules: CallRules | None = None) -> list[str]:
    def number(index: int | None) -> str:
        return "-" if index is None else str(index)

    aligned = align_calls(calls(actual), expectations(expected), rules or CallRules())
    return [
        " ".join([line.state, number(line.expected), number(line.actual), *line.wrong]) for line in aligned
    ]


@pytest.mark.parametrize(
    ("actual", "expected", "mode", "aligned"),
    [
        ("", "", "any_order", []),
        ("s c1", "s c1", "any_order", ["matches 0 0", "matches 1 1"]),
        ("c1 s", "s c1", "any_order", ["matches 1 0", "matches 0 1"]),
        ("c1 s", "s c1", "exact", ["out_of_order 1 0", "matches 0 1"]),
        ("s c2", "s c1", "any_order", ["matches 0 0", "wrong_arguments 1 1 id"]),
        ("s", "c1 s", "any_order", ["missing 0 -", "matches 1 0"]),
        ("s", "s c1", "any_order", ["matches 0 0", "missing 1 -"]),
        ("", "s c1", "any_order", ["missing 0 -", "missing 1 -"]),
        ("s s", "s", "any_order", ["matches 0 0", "unexpected - 1"]),
        ("s s", "s", "superset", ["matches 0 0", "allowed - 1"]),
        ("s", "s c1", "subset", ["matches 0 0", "optional 1 -"]),
    ],
)
def test_lines_follow_the_calls_and_missing_ones_stand_where_they_are_expected(
    actual: str, expected: str, mode: Mode, aligned: list[str]
) -> None:
    assert lines(actual, expected, CallRules(mode=mode)) == aligned


def test_calls_that_the_options_leave_out_are_not_judged() -> None:
    rules = CallRules(only=("c*",))
    assert lines("s c2 s", "s c1", rules) == ["not_judged - 0", "wrong_arguments 1 1 id", "not_judged - 2"]


def test_the_first_fault_is_the_line_to_read_first() -> None:
    aligned = align_calls(calls("s c2"), expectations("s c1 s"), CallRules())
    assert first_fault(aligned) == 1
    assert first_fault(align_calls(calls("s"), expectations("s"), CallRules())) is None


def test_rules_are_read_from_recorded_parameters_and_foreign_values_are_left_out() -> None:
    rules = read_rules({"mode": "exact", "only": ["c*"], "other_arguments": "forbid", "x": 1})
    assert (rules.mode, rules.only, rules.forbid_others) == ("exact", ("c*",), True)
    assert read_rules({"mode": "sideways"}) == CallRules()


def test_defaults_of_tools_count_as_absent_and_definitions_that_cannot_be_read_give_none() -> None:
    tools = [{"name": "s", "parameters": {"type": "object", "properties": {"id": {"default": 1}}}}]
    expected = [ExpectedToolCall(name="s", other_arguments="forbid")]
    [line] = align_calls(calls("s1"), expected, read_rules({}, tools))
    assert line.state == "matches"
    [line] = align_calls(calls("s1"), expected, read_rules({}, "no such file.json"))
    assert line.state == "wrong_arguments"
