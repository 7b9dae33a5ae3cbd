"""Typed messages are those that the general reader finds in the same text."""

import json

import pytest

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.traces.json_messages import read_json_messages
from pytest_evalstudio.traces.messages import is_unread, messages_in, parsed


def nested(depth: int) -> object:
    value: object = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def parts(value: object) -> list[dict[str, object]]:
    return [
        {"type": "text", "content": "Hi"},
        {"type": "text", "content": value},
        {"type": "text", "content": "Hi", "extra": value},
        {"type": "reasoning", "content": "Hm"},
        {"type": "tool_call", "name": "search", "id": "c1", "arguments": value},
        {"type": "tool_call", "name": "search", "arguments": {"query": value}},
        {"type": "tool_call", "name": "search", "arguments": json.dumps(value)},
        {"type": "tool_call", "name": "", "id": value},
        {"type": "tool_call_response", "id": "c1", "response": value},
        {"type": "tool_call_response", "id": "c1", "result": value},
        {"type": "blob", "content": value},
    ]


# At 97 and 98 levels of a value, the whole text reaches the limit on nesting.
@pytest.mark.parametrize("depth", [0, 1, 2, 94, 95, 96, 97, 98, 99, 100, 150])
@pytest.mark.parametrize("role", ["user", ""])
def test_typed_messages_equal_those_of_the_general_reader(depth: int, role: str) -> None:
    for part in parts(nested(depth)):
        for message in (
            {"role": "assistant", "parts": [part], "finish_reason": "stop"},
            {"role": "someone", "parts": [{"type": "text", "content": "Hi"}, part]},
            {"type": "user", "parts": [part]},
            {"role": "user", "parts": [part], "kwargs": {"role": "user", "content": "Hi"}},
        ):
            text = json.dumps([message])
            data = parsed(text)
            expected = None if is_unread(text, data) else messages_in(data, role)
            assert read_json_messages(text, role) == expected


@pytest.mark.parametrize("value", ['[{"role": "user"', "Hi", '"Hi"', "", None, [], "{}", '["\\ud83d"]'])
def test_other_values_are_left_to_the_general_reader(value: Json) -> None:
    data = parsed(value)
    expected = None if is_unread(value, data) else messages_in(data, "user")
    assert read_json_messages(value, "user") == expected
