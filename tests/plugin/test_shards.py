"""Shards of a run, and the record that merging them gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command import evalstudio
from support.project import Project
from support.workers import WORKERS

VARYING = ("run_id", "created", "finished", "spans", "exit_status")


@pytest.fixture
def shards(project: Project) -> Project:
    """A project with a suite of eleven cases, two of which are perturbations, and a lab."""
    cases: list[dict[str, Any]] = [
        {"key": f"q{number}", "prompt": f"{number}+0?", "condition": '"know"'} for number in range(9)
    ]
    for number in (1, 4):
        link = {"type": "perturbation_source", "target": f"q{number}", "target_type": "test_case"}
        cases.append(
            {
                "key": f"q{number}-comma",
                "prompt": f"{number}+0,?",
                "condition": '"know"',
                "relationships": [link],
                "categories": ["perturbed", "perturbed_by:comma:HIGH"],
            }
        )
    project.suite(*cases)
    project.lab({"key": "r", "input": "2+2?", "output_condition": '"5"', "actual_output": "It is 4."})
    return project


def plain(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record without times and ids."""
    header, *items = map(json.loads, (folder / "record.jsonl").read_text(encoding="utf-8").splitlines())
    for item in items:
        item["duration_s"] = None
        for row in item["rows"]:
            row["answer"]["actual_duration"] = None
    return {name: value for name, value in header.items() if name not in VARYING}, items


@pytest.mark.parametrize("workers", WORKERS)
def test_the_merged_record_is_that_of_the_whole_run(shards: Project, workers: tuple[str, ...]) -> None:
    shards.run("--evalstudio-output", "whole")
    ran = 0
    for number in (1, 2, 3):
        result = shards.run(f"--evalstudio-shard={number}/3", f"--evalstudio-output=part{number}", *workers)
        outcomes = result.parseoutcomes()
        ran += outcomes.get("passed", 0) + outcomes.get("failed", 0)

    process = evalstudio("merge", "part1", "part2", "part3", "-o", "merged", folder=shards.folder)

    assert ran == 12
    assert process.returncode == 0, process.stderr
    assert plain(shards.folder / "merged") == plain(shards.folder / "whole")
    assert (shards.folder / "merged" / "interpretation.html").is_file()


def test_an_original_and_its_perturbations_are_in_one_shard(shards: Project) -> None:
    for number in (1, 2, 3, 4):
        shards.run(f"--evalstudio-shard={number}/4", "--evalstudio-output=part")
        keys = {item["key"] for item in plain(shards.folder / "part")[1]}
        for key in ("q1", "q4"):
            assert (key in keys) == (f"{key}-comma" in keys)


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0"])
def test_a_malformed_shard_is_a_usage_error(shards: Project, text: str) -> None:
    result = shards.run(f"--evalstudio-shard={text}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--evalstudio-shard {text}: write NUMBER/TOTAL*"])


def test_what_cannot_be_merged_is_a_sentence(shards: Project) -> None:
    for number in (1, 2):
        shards.run(f"--evalstudio-shard={number}/2", f"--evalstudio-output=part{number}")

    duplicate = evalstudio("merge", "part1", "part1", "-o", "merged", folder=shards.folder)
    into = evalstudio("merge", "part1", "part2", "-o", "part1", folder=shards.folder)
    shards.run(
        "--evalstudio-shard=2/2", "--evalstudio-output=part2", "--evalstudio-threshold", "text_matching=0.9"
    )
    other = evalstudio("merge", "part1", "part2", "-o", "other", folder=shards.folder)

    assert (duplicate.returncode, into.returncode, other.returncode) == (2, 2, 2)
    assert "give each shard once" in duplicate.stderr
    assert "is the folder of a shard" in into.stderr
    assert "the records are not shards of one run" in other.stderr


def test_each_record_is_compared_with_all_before_it(shards: Project) -> None:
    for number in (1, 2, 3):
        shards.run(f"--evalstudio-shard={number}/3", f"--evalstudio-output=part{number}")
    for number in (1, 3):
        path = shards.folder / f"part{number}" / "record.jsonl"
        header, _, items = path.read_text(encoding="utf-8").partition("\n")
        run = json.loads(header)
        if number == 1:
            run["evaluators"] = {}
        else:
            run["evaluators"]["text_matching"]["name"] = "another"
        path.write_text(f"{json.dumps(run)}\n{items}", encoding="utf-8")

    merged = evalstudio("merge", "part1", "part2", "part3", "-o", "merged", folder=shards.folder)

    assert merged.returncode == 2
    assert "evaluator text_matching: has other options in the run of" in merged.stderr


def test_a_missing_shard_is_an_error_unless_it_may_be_missing(shards: Project) -> None:
    for number in (1, 2, 3):
        shards.run(f"--evalstudio-shard={number}/3", f"--evalstudio-output=part{number}")

    refused = evalstudio("merge", "part1", "part3", "-o", "merged", folder=shards.folder)
    partial = evalstudio("merge", "part1", "part3", "--allow-partial", "-o", "merged", folder=shards.folder)
    header, items = plain(shards.folder / "merged")
    summary = (shards.folder / "merged" / "summary.md").read_text(encoding="utf-8")
    completed = evalstudio("merge", "merged", "part2", "-o", "whole", folder=shards.folder)

    assert (refused.returncode, partial.returncode, completed.returncode) == (2, 0, 0)
    assert "the records are shards 1, 3 of 3: 2 is missing" in refused.stderr
    assert "--allow-partial" in refused.stderr
    assert header["shards"] == {"numbers": [1, 3], "total": 3}
    assert 0 < len(items) < 12
    assert "A part of a run: shards 1, 3 of 3." in summary
    header, items = plain(shards.folder / "whole")
    assert "shards" not in header
    assert len(items) == 12


def test_records_that_are_not_shards_of_one_run_are_not_merged(shards: Project) -> None:
    shards.run("--evalstudio-shard=1/2", "--evalstudio-output=half")
    shards.run("--evalstudio-shard=1/3", "--evalstudio-output=third")
    shards.run("--evalstudio-output=whole")

    other_total = evalstudio("merge", "half", "third", "-o", "merged", folder=shards.folder)
    no_shard = evalstudio("merge", "half", "whole", "-o", "merged", folder=shards.folder)

    assert (other_total.returncode, no_shard.returncode) == (2, 2)
    assert "has shard 1 of 3, but another record is one of 2 shards" in other_total.stderr
    assert "is not a shard, but another record is one of 2 shards" in no_shard.stderr


def test_a_shard_that_got_no_test_has_a_record_too(project: Project) -> None:
    project.suite({"key": "q", "prompt": "2+2?", "condition": '"4"'})
    for number in (1, 2):
        project.run(f"--evalstudio-shard={number}/2", f"--evalstudio-output=part{number}")

    merged = evalstudio("merge", "part1", "part2", "-o", "merged", folder=project.folder)

    assert merged.returncode == 0, merged.stderr
    assert len(plain(project.folder / "merged")[1]) == 1


def test_cases_of_other_shards_are_not_gone(shards: Project) -> None:
    shards.run("-v", "--evalstudio-output=whole")

    result = shards.run(
        "-v", "--evalstudio-shard=1/3", "--evalstudio-baseline", "whole", "--evalstudio-fail-on", "gone"
    )

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "items: 1 still passing",
            "changed: nothing*",
            "note: the new run is shard 1 of 3: items of other shards are not in it",
        ]
    )
