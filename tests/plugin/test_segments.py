"""Segments of a suite that got worse although the whole did not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.command import evalstudio
from support.project import PreparedProjects, Project

APP = """
from pathlib import Path


def ask(prompt):
    return "right" if prompt.split()[0] in Path("right.txt").read_text().split() else "wrong"
"""
SEGMENTS = '\n[comparison]\nsegments = ["language"]\n'
BASELINE = ("--evalstudio-baseline", "evalstudio-baseline.jsonl", "-o", "evalstudio_confirm=0")


def cases(of: str) -> list[dict[str, object]]:
    return [
        {
            "key": f"{of}{number}",
            "prompt": f"{of} {number}",
            "condition": '"right"',
            "metadata": {"language": of},
            "categories": ["even" if number % 2 == 0 else "odd"],
        }
        for number in range(20)
    ]


def save_baseline(project: Project) -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", (project.folder / "evalstudio.toml").read_text() + SEGMENTS)
    project.suite(*cases("de"), *cases("en"))
    project.write("right.txt", "de")
    project.run("-q")
    evalstudio("baseline", "save", folder=project.folder)
    project.write("right.txt", "en")


@pytest.fixture
def swapped(project: Project, project_store: PreparedProjects) -> Project:
    """All 20 German cases break, and 20 English ones are fixed."""
    return project_store.fill(project, save_baseline)


def comparison(project: Project) -> dict[str, Any]:
    path = project.folder / "evalstudio-report" / "comparison.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_the_segment_that_got_worse_is_named_with_counts(swapped: Project) -> None:
    result = swapped.run("-v", *BASELINE)

    worse = [each for each in comparison(swapped)["segments"] if each["is_worse"]]
    assert [(each["names"], each["regressed"], each["fixed"], each["n"]) for each in worse] == [
        (["language de"], 20, 0, 20)
    ]
    result.stdout.fnmatch_lines(
        [
            "20 of 40 cases regressed; 20 fixed; segment language de of app (20 of 20 cases*) got worse.*",
            "  segment language de of app (20 of 20 cases regressed, p*): de0, de1, *",
            "since run*segment language de of app (20 of 20 cases regressed*",
        ]
    )
    report = swapped.folder / "evalstudio-report"
    for name in ("summary.md", "interpretation.html"):
        assert "segment language de of app" in (report / name).read_text(encoding="utf-8").replace("\\", "")
    compared = evalstudio("compare", "evalstudio-baseline.jsonl", "evalstudio-report", folder=swapped.folder)
    assert "segment language de of app" in compared.stdout


def test_noise_in_all_segments_names_none(swapped: Project) -> None:
    swapped.write("right.txt", "de")
    swapped.suite(*cases("de"), *cases("en"))
    result = swapped.run("-v", *BASELINE)
    assert comparison(swapped)["segments"] == []
    result.stdout.no_fnmatch_line("*segment language*")


def test_categories_and_suites_are_segments(project: Project) -> None:
    project.write("app.py", APP)
    project.suite(*cases("de"), *cases("en"))
    project.suite(*cases("fr"), name="french_suite.json")
    project.write("right.txt", "de en fr")
    project.run("-q")
    evalstudio("baseline", "save", folder=project.folder)
    project.write("right.txt", "de en")

    project.run("-q", *BASELINE)

    worst = comparison(project)["segments"][0]
    assert (worst["names"], worst["is_worse"]) == (["suite french_suite.json"], True)
