from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.recognition import HEAD_BYTES, Likeness, likeness, missing_part

SUITE = {"name": "S", "tests": [{"test_cases": [{"prompt": "q"}]}]}
LAB = {"name": "L", "dataset": {"inputs": []}, "models": []}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", json.dumps(SUITE), Likeness.LIKELY),
        ("a.json", "\ufeff \n" + json.dumps(LAB), Likeness.LIKELY),
        ("a.json", json.dumps(SUITE["tests"]), Likeness.NONE),
        ("a.json", json.dumps({"documents": [], "test_cases": [{"prompt": "q"}]}), Likeness.LIKELY),
        ("a.json", json.dumps({"documents": [], "test_cases": [{"question": "q"}]}), Likeness.NEAR),
        ("a.json", json.dumps({"prompt": "q", "condition": "x"}), Likeness.NONE),
        ("a.json", json.dumps({"tests": 3}), Likeness.NEAR),
        ("a.json", json.dumps({"features": [0] * HEAD_BYTES, **SUITE}), Likeness.NONE),
        ("a.json", json.dumps({"description": "x" * HEAD_BYTES, **SUITE}), Likeness.LIKELY),
        ("a.json", json.dumps({"inputs": [0] * HEAD_BYTES, "actual_output": 1}), Likeness.NEAR),
        ("a.json", json.dumps({"x": "y" * (HEAD_BYTES - 17), **SUITE}), Likeness.NONE),
        (
            "a.json",
            json.dumps({"raw_dataset": {"inputs": [{"input": "x" * HEAD_BYTES}]}, **LAB}),
            Likeness.LIKELY,
        ),
        ("a.json", "", Likeness.NONE),
        ("a.yaml", "# comment\n" * HEAD_BYTES + "tests:\n - test_cases: []\n", Likeness.LIKELY),
        ("a.yaml", "tests: 3\n", Likeness.NEAR),
        ("a.csv", "input,actual_output\n", Likeness.LIKELY),
        ("a.csv", "input,output\nactual_output,1\n", Likeness.NONE),
    ],
)
def test_the_bytes_of_a_file_show_its_likeness(
    tmp_path: Path, name: str, text: str, expected: Likeness
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    assert likeness(tmp_path / name) is expected


def test_a_file_that_cannot_be_read_is_none_of_ours(tmp_path: Path) -> None:
    assert likeness(tmp_path / "gone.json") is Likeness.NONE


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SUITE, ""),
        (LAB, ""),
        ({"evalstudio_workflow": {}}, ""),
        ({"inputs": [{"input": "q"}, {"actual_output": "a"}]}, ""),
        ({"tests": {"a": 1}}, "`tests` without `test_cases`"),
        ({"tests": ["test_cases"]}, "`tests` without `test_cases`"),
        ({"inputs": [1, 2]}, "`inputs` without `actual_output`"),
        ({"dataset": "mnist", "models": []}, "`dataset` without `inputs`"),
        ({"$schema": "x/suite.schema.json", "tests": []}, ""),
        ({"$schema": "x/suite.schema.json"}, None),
        ({"theme": "dark"}, None),
        ({"documents": [], "test_cases": [{"prompt": "q"}]}, ""),
        ({"documents": [], "test_cases": [{"question": "q"}]}, None),
        ({"version": 3, "test_cases": [{"prompt": "q"}]}, None),
        ({"prompt": "q", "condition": "x"}, None),
        ([SUITE], None),
    ],
)
def test_content_lacks_what_its_format_needs(data: Any, expected: str | None) -> None:
    assert missing_part(data) == expected
