"""Metrics that had a score in the baseline and have none now, although the case was answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.command import evalstudio
from support.project import Project

APP = """
from pathlib import Path

from pytest_evalstudio.core.cases import Answer


def ask(prompt):
    chunks = ["A letter costs 5 EUR at the counter."] if Path("retrieves").exists() else []
    return Answer(text="A letter costs 5 EUR.", context=tuple(chunks))
"""
CONFIG = """
evaluators = ["lexical_groundedness", "text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
retrieval = "optional"
"""
BASELINE = ("--evalstudio-baseline", "evalstudio-baseline.jsonl")


@pytest.fixture
def baseline_project(project: Project) -> Project:
    """A baseline of 70 answers with chunks; the application no longer retrieves any."""
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    project.write("retrieves", "")
    project.suite(
        *({"key": f"k{number}", "prompt": f"Fee {number}?", "condition": '"EUR"'} for number in range(70))
    )
    return project


def save(project: Project) -> None:
    project.run("-q")
    assert evalstudio("baseline", "save", folder=project.folder).returncode == 0


def comparison(project: Project) -> dict[str, Any]:
    path = project.folder / "evalstudio-report" / "comparison.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_a_metric_that_vanishes_is_named_and_is_not_not_worse(baseline_project: Project) -> None:
    save(baseline_project)
    unchanged = baseline_project.run("-q", *BASELINE)
    assert comparison(baseline_project)["verdict"] == "not worse"
    unchanged.stdout.no_fnmatch_line("*no longer checked*")
    (baseline_project.folder / "retrieves").unlink()

    result = baseline_project.run("-v", *BASELINE)
    strict = baseline_project.run("-q", *BASELINE, "--evalstudio-fail-on", "case, unchecked")

    figures = comparison(baseline_project)
    assert figures["verdict"] == "inconclusive"
    assert [(each["metric"], len(each["keys"])) for each in figures["unchecked"]] == [
        ("supported_words", 70),
        ("supported_numbers", 70),
    ]
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "no case changed*no longer checked: lexical_groundedness for 70 cases. Nothing can be said*"
            " about other questions: 70 cases lost a score that decided.",
            "  no longer checked: lexical_groundedness.* of app for 70 cases (k0, *",
            "since run*no longer checked: lexical_groundedness for 70 cases",
        ]
    )
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["result: FAILED – 70 cases no longer checked"])
    report = baseline_project.folder / "evalstudio-report"
    for name in ("summary.md", "interpretation.html"):
        assert "no longer checked: lexical" in (report / name).read_text(encoding="utf-8").replace("\\", "")


def test_an_evaluator_that_is_no_longer_selected_is_another_matter(baseline_project: Project) -> None:
    save(baseline_project)
    (baseline_project.folder / "retrieves").unlink()

    result = baseline_project.run("-q", *BASELINE, "--evalstudio-evaluators", "text_matching")

    assert comparison(baseline_project)["unchecked"] == []
    result.stdout.fnmatch_lines(["other rules than the baseline: without lexical_groundedness"])


def test_some_cases_without_a_score_keep_the_metric_inconclusive(baseline_project: Project) -> None:
    save(baseline_project)
    baseline_project.write("app.py", APP.replace('Path("retrieves").exists()', '"Fee 7?" != prompt'))

    baseline_project.run("-q", *BASELINE)

    figures = comparison(baseline_project)
    metrics = {each["evaluator"]: each for each in figures["metrics"] if each["decides"]}
    assert (metrics["lexical_groundedness"]["verdict"], metrics["lexical_groundedness"]["unchecked"]) == (
        "inconclusive",
        1,
    )
    assert metrics["text_matching"]["verdict"] == "not worse"
    assert [each["keys"] for each in figures["unchecked"]] == [["k7"], ["k7"]]


def test_an_error_is_not_unchecked(baseline_project: Project) -> None:
    save(baseline_project)
    baseline_project.write("app.py", APP.replace("    chunks", '    assert prompt != "Fee 7?"\n    chunks'))

    baseline_project.run("-q", *BASELINE)

    figures = comparison(baseline_project)
    assert (figures["unchecked"], figures["items"]["error_now"]) == ([], 1)
