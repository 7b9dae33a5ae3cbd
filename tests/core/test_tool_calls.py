"""Calls are read from the forms of all services."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.tool_calls import MAX_DEPTH, ToolCall, is_deep, read_tool_call, read_tool_calls

SEARCH = ToolCall(name="search", arguments={"query": "fee"}, id="c1")
ARGUMENTS = '{"query": "fee"}'


@pytest.mark.parametrize(
    "form",
    [
        pytest.param({"name": "search", "arguments": {"query": "fee"}, "id": "c1"}, id="ours"),
        pytest.param(
            {"id": "c1", "type": "function", "function": {"name": "search", "arguments": ARGUMENTS}},
            id="OpenAI chat",
        ),
        pytest.param(
            {"type": "function_call", "name": "search", "arguments": ARGUMENTS, "call_id": "c1"},
            id="OpenAI responses",
        ),
        pytest.param(
            {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "fee"}}, id="Anthropic"
        ),
        pytest.param({"toolUseId": "c1", "name": "search", "input": {"query": "fee"}}, id="Bedrock"),
        pytest.param(
            {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"query": "fee"}}}, id="Bedrock block"
        ),
        pytest.param(
            {"functionCall": {"name": "search", "args": {"query": "fee"}, "id": "c1"}}, id="Gemini part"
        ),
        pytest.param(SEARCH, id="typed"),
    ],
)
def test_the_forms_of_all_services_are_one_call(form: Any) -> None:
    assert read_tool_call(form) == SEARCH


def test_a_name_is_a_call_and_a_single_call_is_a_list() -> None:
    assert read_tool_calls("search") == read_tool_calls([{"name": "search"}]) == (ToolCall(name="search"),)
    assert read_tool_calls(None) == ()


@pytest.mark.parametrize("text", ["{not json", "[1, 2]", "7", '"text"', "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    call = read_tool_call({"name": "search", "arguments": text})
    assert (call.arguments, call.arguments_text) == ({}, text)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize(("depth", "deep"), [(MAX_DEPTH, False), (MAX_DEPTH + 1, True), (200, True)])
def test_deep_arguments_stay_text(depth: int, deep: bool) -> None:
    call = read_tool_call({"name": "search", "arguments": nested(depth)})
    assert is_deep(nested(depth)) is deep
    assert bool(call.arguments_text) is deep
    assert bool(call.arguments) is not deep


def test_results_and_times_are_kept() -> None:
    call = read_tool_call(
        {
            "name": "search",
            "result": {"fee": 5},
            "error": None,
            "agent": "desk",
            "started_s": 1,
            "duration_s": 0.5,
        }
    )
    expected = {"name": "search", "arguments": {}, "result": '{"fee": 5}', "agent": "desk"}
    assert call.to_dict() == expected | {"started_s": 1.0, "duration_s": 0.5}
    assert read_tool_call(call.to_dict()) == call


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([{"name": "a"}, {"arguments": {}}], "tool call 1: the name of the tool is missing; write {"),
        ([{"name": ""}], "tool call 0: the name of the tool is missing"),
        ([7], "tool call 0: expected an object or the name of a tool, found int"),
        (7, "expected a list of tool calls, found int"),
    ],
)
def test_a_faulty_call_is_named(values: Any, message: str) -> None:
    with pytest.raises(ValueError) as exc_info:
        read_tool_calls(values)
    assert str(exc_info.value).startswith(message)


def test_a_call_as_data_has_every_field_that_is_set():
    values = {
        name: {"a": 1} if name == "arguments" else 0.0 if name.endswith("_s") else name
        for name in ToolCall.__struct_fields__
    }
    call = ToolCall(**values)
    assert call.to_dict() == values
    assert read_tool_calls([call.to_dict()]) == (call,)
