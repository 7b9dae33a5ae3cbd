"""Half a surrogate pair anywhere in a record ends no command with a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.record.writer import RecordWriter
from support.command import evalstudio
from support.records import RecordBuilder, evaluator, score

HALF = "half \ud83d a pair"
ROWS: dict[str, dict[str, Any]] = {
    "chunk": {"context": [HALF, "other"]},
    "argument": {"tool_calls": [{"name": "find", "arguments": {"id": HALF}}]},
    "arguments as text": {"tool_calls": [{"name": "find", "arguments": {}, "arguments_text": HALF}]},
    "tool": {"tool_calls": [{"name": HALF, "arguments": {}}]},
    "prompt": {"input": HALF},
    "answer": {"actual_output": HALF},
    "condition": {"output_condition": f'"{HALF}"', "expected_output": HALF},
    "expected call": {"expected_tool_calls": [{"name": "find", "arguments": {"id": HALF}}]},
    "expected state": {"expected_state": {"/a": HALF}},
    "earlier message": {"conversation": [{"role": "user", "content": HALF}]},
    "category": {"categories": [HALF]},
}
ITEMS: dict[str, dict[str, Any]] = {
    "key": {"key": HALF},
    "reason": {"reason": HALF},
    "file": {"file": f"{HALF}.json", "nodeid": f"{HALF}.json::k"},
    "segment": {"segments": {"language": [HALF]}},
}
HEADERS: dict[str, dict[str, Any]] = {"branch": {"branch": HALF}, "document": {"documents": {HALF: "aa"}}}
COMMANDS = (
    ("compare", "a", "b"),
    ("compare", "a", "b", "--json"),
    ("compare", "a", "b", "-o", "out"),
    ("history", "a", "b"),
    ("history", "a", "b", "--json", "--plots", "pictures"),
    ("select", "a", "b", "c"),
    ("select", "a", "b", "c", "--json"),
    ("baseline", "save", "a"),
    ("baseline", "show"),
    ("baseline", "accept", "b"),
    ("compare", "evalstudio-baseline.jsonl", "c"),
)


def record(number: int, place: str) -> RecordBuilder:
    value = float(number % 2)
    builder = RecordBuilder(
        evaluator("quality"),
        run_id=f"{number}" * 8,
        created=f"2026-11-2{number}T22:00:00+00:00",
        **HEADERS.get(place, {}),
    )
    for index in range(4):
        row = {"outcomes": {"quality": score(value)}, "actual_output": f"answer {value}"}
        is_first = index == 0
        item = {"key": f"k{index}", **(ITEMS.get(place, {}) if is_first else {})}
        builder.add(item.pop("key"), "one", {**row, **(ROWS.get(place, {}) if is_first else {})}, **item)
    return builder


@pytest.mark.part("planning")
@pytest.mark.parametrize("is_current", [True, False])
@pytest.mark.parametrize("place", [*ROWS, *ITEMS, *HEADERS])
def test_commands_on_records_have_no_traceback(tmp_path: Path, place: str, is_current: bool) -> None:
    for number, name in enumerate("abc"):
        builder = record(number, place)
        (tmp_path / name).mkdir()
        if is_current:
            writer = RecordWriter(tmp_path / name, builder.run)
            for item in builder.typed_items:
                writer.append_item(item)
            writer.finish(builder.run)
        else:
            builder.write(tmp_path / name)

    for command in COMMANDS:
        result = evalstudio(*command, folder=tmp_path)
        assert result.returncode in (0, 1), (command, result.stderr)
        result.stdout.encode()
