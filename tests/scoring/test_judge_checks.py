"""Results of judge-check that a configuration names for its evaluators."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan


def plan_of(folder: Path, id: str, file: object, **table: Any) -> Any:
    config = {"evaluators": [], "evaluator": {id: {"judge_check": file, **table}}}
    return Plan(Registry(), configuration(config, folder=folder)).get(id).check


def check_file(path: Path, type: str = "correctness_judge") -> Path:
    content = {
        "evalstudio_judge_check": 1,
        "evaluator": type,
        "type": type,
        "judge": {},
        "threshold": 0.5,
        "created": "2026-11-20T10:00:00+00:00",
        "labels": 4,
        "answers": 4,
        "verdicts": 4,
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_check_belongs_to_the_kind_of_evaluator_that_it_measured(tmp_path: Path) -> None:
    path = check_file(tmp_path / "check.json")
    attached = plan_of(tmp_path, "correctness_judge", "check.json")
    assert (attached.file, attached.check.labels) == ("check.json", 4)
    assert attached.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert plan_of(tmp_path, "strict", "check.json", type="correctness_judge").check.labels == 4
    plan = Plan(Registry(), configuration({"evaluators": []}))
    assert plan.get("correctness_judge").check is None


@pytest.mark.parametrize(
    ("id", "file", "message"),
    [
        ("rouge", "check.json", "evaluator 'rouge' asks no judge; remove it"),
        ("correctness_judge", 3, "expected the name of a file of `evalstudio judge-check -o FILE`, found 3"),
        (
            "faithfulness",
            "check.json",
            (
                "check.json measures the judge of correctness_judge, not of faithfulness; run judge-check for"
                " 'faithfulness'"
            ),
        ),
    ],
)
def test_a_check_of_another_evaluator_is_refused(tmp_path: Path, id: str, file: object, message: str) -> None:
    check_file(tmp_path / "check.json")
    with pytest.raises(ConfigurationError) as exc_info:
        plan_of(tmp_path, id, file)
    assert str(exc_info.value) == f"configuration: evaluator.{id}.judge_check: {message}"


def test_a_check_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        plan_of(tmp_path, "correctness_judge", "none.json")
    assert str(exc_info.value).startswith("configuration: evaluator.correctness_judge.judge_check: ")
    assert "none.json" in str(exc_info.value)
