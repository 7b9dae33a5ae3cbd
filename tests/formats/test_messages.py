"""Messages of OpenAI, Anthropic and Bedrock in rows: the same conversation in three forms."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pytest_evalstudio.formats.dataset import LlmDataset, Row

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Cancel E1"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"code": "E1"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "open"},
    {"role": "assistant", "content": "Shall I?"},
    {"role": "user", "content": "yes"},
    {"role": "assistant", "content": "Done."},
]
ANTHROPIC = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Cancel E1"}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"code": "E1"}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "open"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Shall I?"}]},
    {"role": "user", "content": "yes"},
    {"role": "assistant", "content": "Done."},
]
BEDROCK = [
    {"role": "system", "content": [{"text": "Be brief."}]},
    {"role": "user", "content": [{"text": "Cancel E1"}]},
    {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"code": "E1"}}}],
    },
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "open"}]}}]},
    {"role": "assistant", "content": [{"text": "Shall I?"}]},
    {"role": "user", "content": [{"text": "yes"}]},
    {"role": "assistant", "content": [{"text": "Done."}]},
]


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC, BEDROCK], ids=["openai", "anthropic", "bedrock"])
def test_messages_become_turns_with_calls_and_results(messages: list[dict[str, Any]]) -> None:
    row = Row.model_validate({"key": "k", "messages": messages})
    assert row.input == "Cancel E1"
    assert [(turn.role, turn.content) for turn in row.conversation] == [("system", "Be brief.")]
    assert [(turn.prompt, turn.actual_output) for turn in row.turns] == [
        ("Cancel E1", "Shall I?"),
        ("yes", "Done."),
    ]
    [call] = row.turns[0].tool_calls
    assert (call.name, dict(call.arguments), call.id, call.result) == ("find", {"code": "E1"}, "c1", "open")
    assert Row.model_validate(row.to_dict()) == row


def test_a_single_question_becomes_a_plain_row() -> None:
    row = Row.model_validate({"messages": OPENAI[:5]})
    assert (row.input, row.actual_output, row.turns) == ("Cancel E1", "Shall I?", [])
    assert [call.result for call in row.tool_calls] == ["open"]


def test_a_failed_tool_is_an_error_of_its_call() -> None:
    failed = {"type": "tool_result", "tool_use_id": "c1", "content": "locked", "is_error": True}
    messages = [*ANTHROPIC[:3], {"role": "user", "content": [failed]}]
    [call] = Row.model_validate({"messages": messages}).tool_calls
    assert (call.error, call.result) == ("locked", None)


def test_csv_holds_messages_as_json(tmp_path: Any) -> None:
    (tmp_path / "d.csv").write_text('key,messages\nk,"[{""role"": ""user"", ""content"": ""Hi""}]"\n')
    assert LlmDataset.load(tmp_path / "d.csv").inputs[0].input == "Hi"


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        ({"messages": OPENAI, "input": "q"}, "it has both `messages` and 'input'"),
        ({"messages": "Hi"}, "messages: expected a list"),
        ({"messages": [{"content": "Hi"}]}, "message 0 has no role"),
        ({"messages": [{"role": "system", "content": "Hi"}]}, "no message has the role 'user'"),
        (
            {"messages": [{"role": "user"}, {"role": "assistant", "tool_calls": [{}]}]},
            "message 1: the name of the tool is missing",
        ),
    ],
)
def test_faulty_messages_are_named(data: dict[str, Any], fact: str) -> None:
    with pytest.raises(ValidationError, match=fact):
        Row.model_validate(data)


THANKS = {"role": "user", "content": "Thanks! ###STOP###"}
TRANSFER = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c9", "function": {"name": "transfer", "arguments": "{}"}}],
}
TRANSFERRED = {"role": "tool", "tool_call_id": "c9", "content": "transferred"}
ENDS: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "with the user": ([*OPENAI, THANKS], ["Thanks! ###STOP###"], ["find"]),
    "with two messages of the user": (
        [*OPENAI, THANKS, THANKS],
        ["Thanks! ###STOP###\nThanks! ###STOP###"],
        ["find"],
    ),
    "with a tool": ([*OPENAI, THANKS, TRANSFER, TRANSFERRED], ["Thanks! ###STOP###"], ["find", "transfer"]),
    "with a tool, and the user": (
        [*OPENAI, TRANSFER, TRANSFERRED, THANKS],
        ["Thanks! ###STOP###"],
        ["find", "transfer"],
    ),
    "with the assistant": (OPENAI, [], ["find"]),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_answer_is_the_last_text_of_the_assistant(end: str) -> None:
    messages, closing, calls = ENDS[end]
    row = Row.model_validate({"key": "k", "messages": messages})
    assert [turn.actual_output for turn in row.turns] == ["Shall I?", "Done."]
    assert row.closing_messages == closing
    assert [call.name for turn in row.turns for call in turn.tool_calls] == calls
    second_row = Row.model_validate(row.to_dict())
    assert second_row.closing_messages == closing


def test_an_empty_last_message_of_the_assistant_is_no_answer() -> None:
    row = Row.model_validate({"messages": [*OPENAI, THANKS, {"role": "assistant", "content": ""}]})
    assert [turn.actual_output for turn in row.turns] == ["Shall I?", "Done.", ""]
    assert row.closing_messages == []


def test_a_conversation_without_a_message_of_the_assistant_has_no_answer() -> None:
    row = Row.model_validate({"messages": [THANKS, THANKS]})
    assert (row.input, row.actual_output) == ("Thanks! ###STOP###\nThanks! ###STOP###", "")
    assert row.closing_messages == []


def test_calls_without_a_text_are_the_answer_where_there_is_no_text() -> None:
    row = Row.model_validate({"messages": [OPENAI[1], TRANSFER, TRANSFERRED, THANKS]})
    assert row.input == "Cancel E1"
    assert [call.name for call in row.tool_calls] == ["transfer"]
    assert row.closing_messages == ["Thanks! ###STOP###"]


def test_the_result_of_a_call_that_no_message_makes_is_named() -> None:
    messages = [*OPENAI[:3], {"role": "tool", "tool_call_id": "c9", "content": "open"}]
    with pytest.raises(ValidationError, match="message 3 has the result of the call 'c9', but no earlier"):
        Row(messages=messages)  # type: ignore[call-arg]
