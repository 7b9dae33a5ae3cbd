"""`evalstudio mrm clone`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main

STEPS = {
    "topic_modeling": {"min_topic_size": 3},
    "test_generation": {"topics_included": ["t1", "t2"], "topics_excluded": ["t2"], "count": 7},
}


@pytest.fixture(autouse=True)
def workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    Path("fees.md").write_text("The yearly fee is 30 USD.\n", encoding="utf-8")
    Path("evalstudio.toml").write_text(
        "".join(f'[[model]]\nname = "{name}"\nhost = "scripted"\n' for name in ("old", "new"))
    )
    root = {
        "name": "Bank",
        "model": "old",
        "documents": ["fees.md", "https://bank.example/card.md"],
        "seed": 4,
        "folder": "evidence",
        "steps": STEPS,
        "governance": {"owner": "Ann"},
    }
    Path("bank.json").write_text(json.dumps({"evalstudio_workflow": root}), encoding="utf-8")
    return root


def content(path: str) -> dict[str, Any]:
    root: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))["evalstudio_workflow"]
    return root


def test_a_clone_has_everything_but_artifacts(
    workflow: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mrm", "clone", "bank.json", "next.json"]) == 0

    del workflow["folder"]
    assert content("next.json") == {**workflow, "name": "Bank (copy)"}
    assert capsys.readouterr().out == (
        "wrote next.json: workflow 'Bank (copy)', 9 steps; `pytest next.json` runs them\n"
    )
    assert main(["mrm", "status", "next.json"]) == 1


def test_options_change_the_clone_and_documents_are_named_from_its_folder(workflow: dict[str, Any]) -> None:
    arguments = ["--name", "Next", "--description", "", "--model", "new"]
    for value in (
        "test_generation.count=9",
        'test_generation.topics_excluded=["t1"]',
        "test_validation.keep=[]",
    ):
        arguments += ["--set", value]

    assert main(["mrm", "clone", "bank.json", "deep/er/next.json", *arguments]) == 0

    root = content("deep/er/next.json")
    assert (root["name"], root["description"], root["model"]) == ("Next", "", "new")
    assert root["documents"] == ["../../fees.md", "https://bank.example/card.md"]
    assert root["steps"] == {
        **STEPS,
        "test_generation": {"topics_included": ["t1", "t2"], "topics_excluded": ["t1"], "count": 9},
        "test_validation": {"keep": []},
    }
    assert content("bank.json") == workflow


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["bank.json", "bank.json"], "bank.json: there is a file of this name; give another name"),
        (["bank.json", "next.yaml"], "next.yaml: a file name for the copy of a workflow ends with .json"),
        (["gone.json", "next.json"], "gone.json: cannot be read"),
        (["bank.json", "next.json", "--model", "nex"], "no model named 'nex'. Did you mean 'new'?"),
        (["bank.json", "next.json", "--set", "count=9"], "--set count=9: expected STEP.PARAMETER=VALUE"),
        (["bank.json", "next.json", "--set", "test_generation.count=x"], "/steps/test_generation/count: "),
        (["bank.json", "next.json", "--set", "test_generation.cont=1"], "Did you mean 'count'?"),
        (["bank.json", "old.json"], "old_artifacts: there are artifacts for this name; give another name"),
    ],
)
def test_a_wrong_clone_is_not_written(
    arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("old_artifacts").mkdir()
    before = sorted(Path().iterdir())

    assert main(["mrm", "clone", *arguments]) == 2

    assert fault in capsys.readouterr().err
    assert sorted(Path().iterdir()) == before
