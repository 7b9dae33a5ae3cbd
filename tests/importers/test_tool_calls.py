"""Calls of tools in the files of DeepEval and Ragas are imported, and judged as theirs are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.importers.kinds import import_file

DEEPEVAL = {
    "input": "Cancel E1",
    "actual_output": "Done.",
    "tools_called": [{"name": "cancel", "inputParameters": {"id": "E1"}, "output": {"ok": True}}],
    "expected_tools": [{"name": "find"}, {"name": "cancel", "input_parameters": {"id": "E1"}}],
}
RAGAS = {
    "user_input": [
        {"content": "Cancel E1", "type": "human"},
        {"content": "", "type": "ai", "tool_calls": [{"name": "cancel", "args": {"id": "E1"}}]},
        {"content": "ok", "type": "tool"},
        {"content": "Done?", "type": "human"},
    ],
    "response": "Done.",
    "reference_tool_calls": [{"name": "find", "args": {}}, {"name": "cancel", "args": {"id": "E1"}}],
}
EXPECTED = [{"name": "find", "arguments": {}}, {"name": "cancel", "arguments": {"id": "E1"}}]


def row_of(kind: str, value: dict[str, Any], folder: Path) -> Row:
    path = folder / "cases.json"
    path.write_text(json.dumps([value]), encoding="utf-8")
    result = import_file(kind, path, target="dataset")
    assert not result.errors
    assert isinstance(result.content, LlmDataset)
    [row] = result.content.inputs
    return row


@pytest.mark.parametrize(
    ("kind", "value", "result"), [("deepeval", DEEPEVAL, '{"ok": true}'), ("ragas", RAGAS, None)]
)
def test_calls_and_expectations_are_imported(
    kind: str, value: dict[str, Any], result: str | None, tmp_path: Path
) -> None:
    row = row_of(kind, value, tmp_path)
    [call] = row.tool_calls
    assert (call.name, call.arguments, call.result) == ("cancel", {"id": "E1"}, result)
    assert row.expected_tool_calls is not None
    assert [expected.to_dict() for expected in row.expected_tool_calls] == EXPECTED


@pytest.mark.parametrize(("kind", "value"), [("deepeval", DEEPEVAL), ("ragas", RAGAS)])
def test_without_calls_nothing_is_expected(kind: str, value: dict[str, Any], tmp_path: Path) -> None:
    names = ("tools_called", "expected_tools", "reference_tool_calls")
    row = row_of(kind, {**value, "user_input": "Cancel E1", **dict.fromkeys(names)}, tmp_path)
    assert (row.tool_calls, row.expected_tool_calls) == ([], None)


def test_expected_tools_of_goldens_become_expectations_of_cases(tmp_path: Path) -> None:
    path = tmp_path / "goldens.json"
    golden = {name: DEEPEVAL[name] for name in ("input", "expected_tools")}
    path.write_text(json.dumps([golden]), encoding="utf-8")
    content = import_file("deepeval", path).content
    assert isinstance(content, TestSuite)
    [(_, case)] = content.cases()
    assert case.expected_tool_calls is not None
    assert [expected.to_dict() for expected in case.expected_tool_calls] == EXPECTED


def test_a_faulty_call_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{**DEEPEVAL, "tools_called": [{"reasoning": "x"}]}]), encoding="utf-8")
    [error] = import_file("deepeval", path, target="dataset").errors
    assert "/0/tools_called" in str(error)
    assert "tool call 0: the name of the tool is missing" in str(error)


@pytest.mark.parametrize("cell", ["", " ", '""'])
def test_an_empty_cell_of_calls_has_none(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(
        f"input,actual_output,tools_called,expected_tools\nFee?,5 USD,{cell},{cell}\n", encoding="utf-8"
    )
    result = import_file("deepeval", path, target="dataset")
    assert result.errors == []
    assert isinstance(result.content, LlmDataset)
    [row] = result.content.inputs
    assert (row.tool_calls, row.expected_tool_calls) == ([], None)
