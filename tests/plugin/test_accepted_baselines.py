"""Baselines that are saved and accepted: what is taken from a run, and what stays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from support.command import evalstudio
from support.project import Project
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


@pytest.fixture
def saved(project: Project) -> Project:
    """A baseline of six cases that pass."""
    project.write("app.py", APP)
    project.suite(*map(case, SIX))
    answering(project, SIX)
    project.run("-q").assert_outcomes(passed=6)
    assert baseline(project, "save").returncode == 0
    return project


def baseline(project: Project, *arguments: str) -> Any:
    return evalstudio("baseline", *arguments, folder=project.folder)


def kept(project: Project) -> dict[str, tuple[str, str]]:
    """Verdict and answer of each item of the baseline by key."""
    lines = (project.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines[1:]]
    assert [item["index"] for item in items] == list(range(len(items)))
    return {item["key"]: (item["verdict"], item["rows"][0]["answer"]["actual_output"]) for item in items}


def compared(project: Project) -> dict[str, Any]:
    path = project.folder / "evalstudio-report" / "comparison.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("workers", WORKERS)
def test_a_part_of_a_run_updates_its_cases_and_keeps_the_others(
    saved: Project, workers: tuple[str, ...]
) -> None:
    answering(saved, {**SIX, "q1": "a fee of one"})
    saved.run("-q", "-k", "q1", *workers)

    accepted = baseline(saved, "accept")

    assert accepted.returncode == 0
    assert "accepted: sums_suite.json::q1[app]: passed\n  [-the-]{+a+} fee [-is 1-]{+of one+}\n" in (
        accepted.stdout
    )
    assert "gone" not in accepted.stdout
    assert "6 items: 1 updated, 0 new, 5 kept, 0 removed" in accepted.stdout
    assert kept(saved) == {key: ("passed", text) for key, text in {**SIX, "q1": "a fee of one"}.items()}
    answering(saved, {**SIX, "q1": "a fee of one", "q2": "no"})
    saved.run("-q", *BASELINE)
    assert (compared(saved)["items"]["regressed"], compared(saved)["items"]["new"]) == (1, 0)


def test_cases_without_a_verdict_keep_their_result(saved: Project) -> None:
    answering(saved, {**SIX, "q0": "boom", "q1": "one fee"})
    saved.suite(*map(case, SIX), case("q6"), case("q7", skip="later"))
    saved.run("-q")

    accepted = baseline(saved, "accept")

    assert "not accepted, no verdict (an error, skipped or not run): q0 of app, q7 of app" in accepted.stdout
    assert kept(saved) == {
        **{key: ("passed", text) for key, text in SIX.items()},
        "q1": ("passed", "one fee"),
        "q6": ("failed", "no"),
    }


def test_single_cases_are_accepted_by_key(saved: Project) -> None:
    answering(saved, {key: f"no {text}" for key, text in SIX.items()})
    saved.run("-q")

    assert baseline(saved, "accept", "q2", "sums_suite.json::q4[app]").returncode == 0
    unknown = baseline(saved, "accept", "evalstudio-report", "q22")

    assert [key for key, (_, text) in kept(saved).items() if text.startswith("no")] == ["q2", "q4"]
    assert unknown.returncode == 2
    assert "no test case named 'q22'. Did you mean 'q2'?" in unknown.stderr


def test_fixed_and_changed_cases_are_accepted_alone(saved: Project) -> None:
    answering(saved, {**SIX, "q0": "no"})
    saved.run("-q")
    baseline(saved, "accept")
    answering(saved, {**{key: f"no {text}" for key, text in SIX.items()}, "q0": "the fee is back"})
    saved.suite(*map(case, list(SIX)[:5]), case("q5", condition='"no"'))
    saved.run("-q")

    fixed = baseline(saved, "accept", "--fixed", "-o", "evalstudio-baseline.jsonl")
    assert "accepted: sums_suite.json::q0[app]: failed -> passed\n" in fixed.stdout
    assert {key for key, (_, text) in kept(saved).items() if "no" in text} == set()
    changed = baseline(saved, "accept", "--changed")
    assert "accepted: sums_suite.json::q5[app]: passed; test changed: condition\n" in changed.stdout
    assert {key for key, (_, text) in kept(saved).items() if "no" in text} == {"q5"}
    nothing = baseline(saved, "accept", "--fixed")
    assert (nothing.returncode, "no verdict to accept" in nothing.stderr) == (2, True)


def test_cases_that_the_suite_no_longer_has_are_pruned_on_request(saved: Project) -> None:
    saved.suite(*map(case, list(SIX)[:4]))
    saved.run("-q", "-k", "q0 or q1")
    partial = baseline(saved, "accept", "--prune")
    assert (partial.returncode, "--prune: the run left out test cases" in partial.stderr) == (2, True)
    saved.run("-q")
    baseline(saved, "accept")
    assert len(kept(saved)) == 6

    pruned = baseline(saved, "accept", "--prune")

    assert "removed: sums_suite.json::q4[app], sums_suite.json::q5[app]" in pruned.stdout
    assert list(kept(saved)) == ["q0", "q1", "q2", "q3"]


def test_cases_of_files_that_are_not_in_the_run_are_not_pruned(saved: Project) -> None:
    saved.suite(case("other"), name="other_suite.json")
    saved.run("-q", "other_suite.json")

    baseline(saved, "accept", "--prune")
    assert len(kept(saved)) == 7
    (saved.folder / "sums_suite.json").unlink()
    baseline(saved, "accept", "--prune")
    assert list(kept(saved)) == ["other"]


def test_a_merged_baseline_is_valid_for_all_readers(saved: Project) -> None:
    answering(saved, {**SIX, "q1": "one fee"})
    saved.run("-q", "-k", "q1")
    baseline(saved, "accept")
    saved.run("-q")

    for command in (
        ("compare", "evalstudio-baseline.jsonl", "evalstudio-report"),
        ("compare", "evalstudio-baseline.jsonl", "evalstudio-report", "--rescore"),
        ("history", "evalstudio-baseline.jsonl", "evalstudio-report"),
        ("select", "evalstudio-baseline.jsonl", "evalstudio-report"),
        ("baseline", "show"),
        ("report", "evalstudio-baseline.jsonl", "-o", "page"),
    ):
        ended = evalstudio(*command, folder=saved.folder)
        assert (ended.returncode, ended.stderr.count("Traceback")) == (0, 0), (command, ended.stderr)
    assert compared_headers(saved) == {"interrupted": False, "deselected": False}


def compared_headers(project: Project) -> dict[str, bool]:
    line = (project.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8").splitlines()[0]
    header = json.loads(line)
    return {name: header.get(name, False) for name in ("interrupted", "deselected")}


def test_kept_cases_have_the_thresholds_that_judged_them(saved: Project) -> None:
    settings = (saved.folder / "evalstudio.toml").read_text(encoding="utf-8")
    saved.write("evalstudio.toml", settings + "\n[evaluator.text_matching]\nthreshold = 0.9\n")
    saved.run("-q", "-k", "q1")
    baseline(saved, "accept")
    saved.run("-q", *BASELINE)

    changed = {each["key"]: each["parts"] for each in compared(saved)["changed_tests"]}
    assert changed == {key: ["thresholds of text_matching"] for key in SIX if key != "q1"}
    lines = (saved.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    limits = {
        (item := json.loads(line))["key"]: item["verdicts"]["text_matching"].get("thresholds")
        for line in lines
    }
    assert limits == {**{key: {"model_passes": 0.5} for key in SIX}, "q1": None}


def test_moved_files_and_renamed_models_keep_their_cases(saved: Project) -> None:
    (saved.folder / "sums_suite.json").rename(saved.folder / "fees_suite.json")
    settings = (saved.folder / "evalstudio.toml").read_text(encoding="utf-8")
    saved.write("evalstudio.toml", settings.replace('name = "app"', 'name = "next"'))
    answering(saved, {**SIX, "q1": "one fee"})
    saved.run("-q")
    accepted = baseline(saved, "accept", "--model", "app=next", "q1")
    assert "6 items: 1 updated, 0 new, 5 kept, 0 removed" in accepted.stdout
    answering(saved, {**SIX, "q2": "no"})
    saved.run("-q", *BASELINE)
    assert (compared(saved)["matched"], compared(saved)["items"]["regressed"]) == (6, 1)


def test_a_run_with_errors_is_saved_on_request(saved: Project) -> None:
    answering(saved, {**SIX, "q0": "boom"})
    saved.run("-q")

    refused = baseline(saved, "save", "-o", "other.jsonl")
    allowed = baseline(saved, "save", "-o", "other.jsonl", "--allow-errors")

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
    saved: Project, workers: tuple[str, ...], arguments: tuple[str, ...], reason: str
) -> None:
    answering(saved, {**SIX, "q0": "no"})
    if workers and arguments == ("-x",):
        pytest.skip("a chunk that has begun ends")
    saved.run("-q", *arguments, *workers)

    refused = baseline(saved, "save", "-o", "other.jsonl")
    allowed = baseline(saved, "save", "-o", "other.jsonl", "--allow-partial")

    assert refused.returncode == 2
    assert reason in refused.stderr
    assert allowed.returncode == 0
