"""Baselines that are saved and accepted: what is taken from a run, and what stays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from support.command import evalstudio
from support.project import PreparedProjects, Project
from support.workers import WORKERS

APP = """
import json, pathlib


def ask(prompt):
    answer = json.loads(pathlib.Path("answers.json").read_text()).get(prompt, "no")
    if answer == "boom":
        raise RuntimeError("no connection")
    return answer
"""
BASELINE = ("--evalstudio-baseline", "evalstudio-baseline.jsonl")
SIX = {f"q{number}": f"the fee is {number}" for number in range(6)}


def case(key: str, **more: object) -> dict[str, object]:
    return {"key": key, "prompt": key, "condition": '"fee"', **more}


def answering(project: Project, answers: Mapping[str, str]) -> None:
    project.write("answers.json", json.dumps(answers))


def save_baseline(project: Project) -> None:
    project.write("app.py", APP)
    project.suite(*map(case, SIX))
    answering(project, SIX)
    project.run("-q").assert_outcomes(passed=6)
    assert baseline(project, "save").returncode == 0


@pytest.fixture
def baseline_project(project: Project, project_store: PreparedProjects) -> Project:
    """A baseline of six cases that pass."""
    return project_store.fill(project, save_baseline)


def baseline(project: Project, *arguments: str) -> Any:
    return evalstudio("baseline", *arguments, folder=project.folder)


def baseline_items(project: Project) -> dict[str, tuple[str, str]]:
    """Verdict and answer of each item of the baseline by key."""
    lines = (project.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines[1:]]
    assert [item["index"] for item in items] == list(range(len(items)))
    return {item["key"]: (item["verdict"], item["rows"][0]["answer"]["actual_output"]) for item in items}


def comparison_of(project: Project) -> dict[str, Any]:
    path = project.folder / "evalstudio-report" / "comparison.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("workers", WORKERS)
def test_a_part_of_a_run_updates_its_cases_and_keeps_the_others(
    baseline_project: Project, workers: tuple[str, ...]
) -> None:
    answering(baseline_project, {**SIX, "q1": "a fee of one"})
    baseline_project.run("-q", "-k", "q1", *workers)

    accepted = baseline(baseline_project, "accept")

    assert accepted.returncode == 0
    assert "accepted: sums_suite.json::q1[app]: passed\n  [-the-]{+a+} fee [-is 1-]{+of one+}\n" in (
        accepted.stdout
    )
    assert "gone" not in accepted.stdout
    assert "6 items: 1 updated, 0 new, 5 kept, 0 removed" in accepted.stdout
    assert baseline_items(baseline_project) == {
        key: ("passed", text) for key, text in {**SIX, "q1": "a fee of one"}.items()
    }
    answering(baseline_project, {**SIX, "q1": "a fee of one", "q2": "no"})
    baseline_project.run("-q", *BASELINE)
    assert (
        comparison_of(baseline_project)["items"]["regressed"],
        comparison_of(baseline_project)["items"]["new"],
    ) == (1, 0)


def test_cases_without_a_verdict_keep_their_result(baseline_project: Project) -> None:
    answering(baseline_project, {**SIX, "q0": "boom", "q1": "one fee"})
    baseline_project.suite(*map(case, SIX), case("q6"), case("q7", skip="later"))
    baseline_project.run("-q")

    accepted = baseline(baseline_project, "accept")

    assert "not accepted, no verdict (an error, skipped or not run): q0 of app, q7 of app" in accepted.stdout
    assert baseline_items(baseline_project) == {
        **{key: ("passed", text) for key, text in SIX.items()},
        "q1": ("passed", "one fee"),
        "q6": ("failed", "no"),
    }


def test_single_cases_are_accepted_by_key(baseline_project: Project) -> None:
    answering(baseline_project, {key: f"no {text}" for key, text in SIX.items()})
    baseline_project.run("-q")

    assert baseline(baseline_project, "accept", "q2", "sums_suite.json::q4[app]").returncode == 0
    unknown = baseline(baseline_project, "accept", "evalstudio-report", "q22")

    assert [key for key, (_, text) in baseline_items(baseline_project).items() if text.startswith("no")] == [
        "q2",
        "q4",
    ]
    assert unknown.returncode == 2
    assert "no test case named 'q22'. Did you mean 'q2'?" in unknown.stderr


def test_fixed_and_changed_cases_are_accepted_alone(baseline_project: Project) -> None:
    answering(baseline_project, {**SIX, "q0": "no"})
    baseline_project.run("-q")
    baseline(baseline_project, "accept")
    answering(baseline_project, {**{key: f"no {text}" for key, text in SIX.items()}, "q0": "the fee is back"})
    baseline_project.suite(*map(case, list(SIX)[:5]), case("q5", condition='"no"'))
    baseline_project.run("-q")

    fixed = baseline(baseline_project, "accept", "--fixed", "-o", "evalstudio-baseline.jsonl")
    assert "accepted: sums_suite.json::q0[app]: failed -> passed\n" in fixed.stdout
    assert {key for key, (_, text) in baseline_items(baseline_project).items() if "no" in text} == set()
    changed = baseline(baseline_project, "accept", "--changed")
    assert "accepted: sums_suite.json::q5[app]: passed; test changed: condition\n" in changed.stdout
    assert {key for key, (_, text) in baseline_items(baseline_project).items() if "no" in text} == {"q5"}
    second_accept = baseline(baseline_project, "accept", "--fixed")
    assert (second_accept.returncode, "no verdict to accept" in second_accept.stderr) == (2, True)


def test_cases_that_the_suite_no_longer_has_are_pruned_on_request(baseline_project: Project) -> None:
    baseline_project.suite(*map(case, list(SIX)[:4]))
    baseline_project.run("-q", "-k", "q0 or q1")
    partial = baseline(baseline_project, "accept", "--prune")
    assert (partial.returncode, "--prune: the run left out test cases" in partial.stderr) == (2, True)
    baseline_project.run("-q")
    baseline(baseline_project, "accept")
    assert len(baseline_items(baseline_project)) == 6

    pruned = baseline(baseline_project, "accept", "--prune")

    assert "removed: sums_suite.json::q4[app], sums_suite.json::q5[app]" in pruned.stdout
    assert list(baseline_items(baseline_project)) == ["q0", "q1", "q2", "q3"]


def test_cases_of_files_that_are_not_in_the_run_are_not_pruned(baseline_project: Project) -> None:
    baseline_project.suite(case("other"), name="other_suite.json")
    baseline_project.run("-q", "other_suite.json")

    baseline(baseline_project, "accept", "--prune")
    assert len(baseline_items(baseline_project)) == 7
    (baseline_project.folder / "sums_suite.json").unlink()
    baseline(baseline_project, "accept", "--prune")
    assert list(baseline_items(baseline_project)) == ["other"]


def test_a_merged_baseline_is_valid_for_all_readers(baseline_project: Project) -> None:
    answering(baseline_project, {**SIX, "q1": "one fee"})
    baseline_project.run("-q", "-k", "q1")
    baseline(baseline_project, "accept")
    baseline_project.run("-q")

    for command in (
        ("compare", "evalstudio-baseline.jsonl", "evalstudio-report"),
        ("compare", "evalstudio-baseline.jsonl", "evalstudio-report", "--rescore"),
        ("history", "evalstudio-baseline.jsonl", "evalstudio-report"),
        ("select", "evalstudio-baseline.jsonl", "evalstudio-report"),
        ("baseline", "show"),
        ("report", "evalstudio-baseline.jsonl", "-o", "page"),
    ):
        result = evalstudio(*command, folder=baseline_project.folder)
        assert (result.returncode, result.stderr.count("Traceback")) == (0, 0), (command, result.stderr)
    assert compared_headers(baseline_project) == {"interrupted": False, "deselected": False}


def compared_headers(project: Project) -> dict[str, bool]:
    line = (project.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8").splitlines()[0]
    header = json.loads(line)
    return {name: header.get(name, False) for name in ("interrupted", "deselected")}


def test_kept_cases_have_the_thresholds_that_judged_them(baseline_project: Project) -> None:
    settings = (baseline_project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    baseline_project.write("evalstudio.toml", settings + "\n[evaluator.text_matching]\nthreshold = 0.9\n")
    baseline_project.run("-q", "-k", "q1")
    baseline(baseline_project, "accept")
    baseline_project.run("-q", *BASELINE)

    changed = {each["key"]: each["parts"] for each in comparison_of(baseline_project)["changed_tests"]}
    assert changed == {key: ["thresholds of text_matching"] for key in SIX if key != "q1"}
    lines = (
        (baseline_project.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    )
    limits = {
        (item := json.loads(line))["key"]: item["verdicts"]["text_matching"].get("thresholds")
        for line in lines
    }
    assert limits == {**{key: {"model_passes": 0.5} for key in SIX}, "q1": None}


def test_moved_files_and_renamed_models_keep_their_cases(baseline_project: Project) -> None:
    (baseline_project.folder / "sums_suite.json").rename(baseline_project.folder / "fees_suite.json")
    settings = (baseline_project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    baseline_project.write("evalstudio.toml", settings.replace('name = "app"', 'name = "next"'))
    answering(baseline_project, {**SIX, "q1": "one fee"})
    baseline_project.run("-q")
    accepted = baseline(baseline_project, "accept", "--model", "app=next", "q1")
    assert "6 items: 1 updated, 0 new, 5 kept, 0 removed" in accepted.stdout
    answering(baseline_project, {**SIX, "q2": "no"})
    baseline_project.run("-q", *BASELINE)
    assert (
        comparison_of(baseline_project)["matched"],
        comparison_of(baseline_project)["items"]["regressed"],
    ) == (6, 1)


def test_a_run_with_errors_is_saved_on_request(baseline_project: Project) -> None:
    answering(baseline_project, {**SIX, "q0": "boom"})
    baseline_project.run("-q")

    refused = baseline(baseline_project, "save", "-o", "other.jsonl")
    allowed = baseline(baseline_project, "save", "-o", "other.jsonl", "--allow-errors")

    assert refused.returncode == 2
    assert "cannot be reported as regressed: sums_suite.json::q0[app]; run them again" in refused.stderr
    assert allowed.returncode == 0


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-k", "q1 or q2"), "the run left out test cases"),
        (("--deselect", "sums_suite.json::q1[app]"), "the run left out test cases"),
        (("sums_suite.json::q1[app]",), "the run left out test cases"),
        (("-x",), "the run did not end "),
        (("--evalstudio-shard", "1/2"), "the run is shard 1 of 2"),
    ],
)
def test_a_part_of_a_run_is_saved_on_request(
    baseline_project: Project, workers: tuple[str, ...], arguments: tuple[str, ...], reason: str
) -> None:
    answering(baseline_project, {**SIX, "q0": "no"})
    if workers and arguments == ("-x",):
        pytest.skip("a chunk that has begun ends")
    baseline_project.run("-q", *arguments, *workers)

    refused = baseline(baseline_project, "save", "-o", "other.jsonl")
    allowed = baseline(baseline_project, "save", "-o", "other.jsonl", "--allow-partial")

    assert refused.returncode == 2
    assert reason in refused.stderr
    assert allowed.returncode == 0
