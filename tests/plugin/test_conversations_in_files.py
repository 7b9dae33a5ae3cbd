"""Recorded conversations that end with the user or a tool, through files as a user gives them to pytest."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from support.project import Project

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Cancel E1."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "cancel", "arguments": '{"code": "E1"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "done"},
    {"role": "assistant", "content": "E1 is cancelled."},
]
THANKS = {"role": "user", "content": "Thanks! ###STOP###"}
TRANSFER = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c2", "function": {"name": "transfer", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "transferred"},
]
SECOND = [{"role": "user", "content": "And E2?"}, {"role": "assistant", "content": "E2 is open."}]
CANCEL = {"name": "cancel", "arguments": {"code": "E1"}}
ROWS = {
    "perfect": (MESSAGES, '"cancelled"', [CANCEL], "passed"),
    "ends with the user": ([*MESSAGES, THANKS], '"cancelled"', [CANCEL], "passed"),
    "longer": ([*MESSAGES, *SECOND, THANKS], '"open"', [CANCEL], "passed"),
    "ends with a tool": (
        [*MESSAGES, THANKS, *TRANSFER],
        '"cancelled"',
        [CANCEL, {"name": "transfer"}],
        "passed",
    ),
    "polite": (
        [*MESSAGES[:2], {"role": "assistant", "content": "I cannot."}, THANKS],
        '"cancelled"',
        [CANCEL],
        "failed",
    ),
    "call too many": ([*MESSAGES, THANKS, *TRANSFER], '"cancelled"', [CANCEL], "failed"),
    "no call expected": ([*MESSAGES, *SECOND, THANKS], '"open"', [], "failed"),
    "no answer": ([*MESSAGES[:2], {"role": "assistant", "content": ""}], '"cancelled"', [], "failed"),
    "nobody answers": ([THANKS], '"cancelled"', [], "failed"),
}


def row(key: str) -> dict[str, Any]:
    messages, condition, calls, _ = ROWS[key]
    return {
        "key": key,
        "messages": messages,
        "output_condition": condition,
        "expected_tool_calls": [{"arguments": {}, **call} for call in calls],
    }


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(
        {name: value if isinstance(value, str) else json.dumps(value) for name, value in each.items()}
        for each in rows
    )
    return text.getvalue()


MODEL = {"key": "m", "name": "m", "llm_model_name": "m", "model_type": "openai_llm"}
FILES = {
    "desk_lab.json": lambda rows: json.dumps(
        {"models": [MODEL], "dataset": {"inputs": [{**each, "model_key": "m"} for each in rows]}}
    ),
    "desk.json": lambda rows: json.dumps({"inputs": rows}),
    "desk.yaml": lambda rows: json.dumps({"inputs": rows}),
    "desk.csv": _csv,
}


@pytest.mark.parametrize("name", FILES)
def test_what_follows_the_answer_is_shown_and_fails_nothing(project: Project, name: str) -> None:
    project.write("evalstudio.toml", 'evaluators = ["text_matching", "tool_calls"]\n')
    project.write(name, FILES[name]([row(key) for key in ROWS]))

    result = project.run(name, "-v")

    _, items = project.record()
    assert {item["key"]: item["verdict"] for item in items.values()} == {key: ROWS[key][-1] for key in ROWS}
    closing = {item["key"]: item["rows"][0]["answer"].get("closing_messages", []) for item in items.values()}
    assert closing["ends with the user"] == closing["longer"] == [THANKS["content"]]
    assert closing["perfect"] == []
    result.stdout.fnmatch_lines(["after it, user: Thanks! ###STOP###"])
    assert result.stdout.str().count("no answer: ") >= 2
