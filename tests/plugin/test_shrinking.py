"""evalstudio_shrink_flips: the smallest edit of each flip, on the terminal, in record and exports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.project import Project
from support.workers import WORKERS

KILLED, KILLED_AT = 9, 12
"""Exit status, and number of the question at which a run is killed."""
APP = f"""
import os
from pathlib import Path

from pytest_evalstudio.asking import answers

answers.LEASE_S = 1.0  # the next run waits until the leases of a killed one expire


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    if Path("crash").exists() and len(Path("asked.txt").read_text().splitlines()) == {KILLED_AT}:
        os._exit({KILLED})
    return "5 USD" if "card" in prompt else "I cannot find that."
"""
CONFIG = """
evaluators = ["text_matching"]

[perturbations]
apply = "keyboard_typos:high, comma:high"

[[model]]
name = "app"
host = "python"
target = "app:ask"
retries = 0
"""
STORING = CONFIG + 'concurrency = 1\ncache = "resume"\n'
CARD = {"key": "card", "prompt": "What does a replacement card cost?", "condition": '"5 USD"'}
LOST = {"key": "lost", "prompt": "How much is the fee when my card is lost?", "condition": '"5 USD"'}
SHRINK = ("-o", "evalstudio_shrink_flips=100")


@pytest.fixture
def app(project: Project) -> Project:
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    project.suite(CARD, LOST)
    return project


def question_count(project: Project) -> int:
    return len((project.folder / "asked.txt").read_text().splitlines())


def calls(ends: dict[str, dict[str, Any]]) -> int:
    """Return the calls of all searches; no calls are not written."""
    return sum(edit.get("calls", 0) for edit in ends.values())


def questions(ends: dict[str, dict[str, Any]]) -> list[str]:
    return [edit["question"] for edit in ends.values()]


def smallest(project: Project) -> dict[str, dict[str, Any]]:
    """Return the smallest edit of each item that has one."""
    return {
        name.removesuffix("[app]"): flip["smallest"]
        for name, item in project.record()[1].items()
        for flip in item["flips"]
        if "smallest" in flip
    }


@pytest.mark.parametrize("workers", WORKERS)
def test_the_one_word_that_flips_is_reported_everywhere(app: Project, workers: tuple[str, ...]) -> None:
    result = app.run("-v", *SHRINK, *workers)
    result.assert_outcomes(passed=4, failed=2)
    card, loss = smallest(app).values()
    assert card == {
        "code": "minimal",
        "original": CARD["prompt"],
        "question": "What does a replacement xare cost?",
        "edits": 1,
        "total_edits": 9,
        "calls": 8,
    }
    assert (loss["code"], loss["edits"]) == ("minimal", 1)
    assert question_count(app) == 6 + card["calls"] + loss["calls"]
    line = (
        "smallest edit that flips: What does a replacement [[]-card-[]]{+xare+} cost? (1 of 9 edits; 8 calls)"
    )
    result.stdout.fnmatch_lines_random(
        [
            line,
            f"smallest edits of 2 flips with {card['calls'] + loss['calls']} calls: 2 minimal",
            f"  card-keyboard_typos-high[[]app] text_matching: {line}",
        ]
    )
    report = app.folder / "evalstudio-report"
    data = json.loads((report / "interpretation.json").read_text())["flips"]["smallest_edits"]
    assert (data["calls"], data["ends"]) == (card["calls"] + loss["calls"], {"minimal": 2})
    assert data["flips"][0]["question"] == card["question"]
    assert "<summary>Smallest edits that flip</summary>" in (report / "summary.md").read_text()


def test_without_the_option_nothing_more_is_asked(app: Project) -> None:
    result = app.run("-v")
    result.assert_outcomes(passed=4, failed=2)
    assert (question_count(app), smallest(app)) == (6, {})
    result.stdout.no_fnmatch_line("*smallest edit*")


def test_a_perfect_application_is_asked_nothing_more(app: Project) -> None:
    app.write("app.py", APP.replace('if "card" in prompt', "if True"))
    app.run(*SHRINK).assert_outcomes(passed=6)
    assert (question_count(app), smallest(app)) == (6, {})


def test_the_configuration_can_ask_for_it_and_the_option_switches_it_off(app: Project) -> None:
    app.write(
        "evalstudio.toml", CONFIG.replace("apply", "shrink_calls = 9\nshrink_calls_per_flip = 4\napply")
    )
    app.run()
    ends = smallest(app)
    assert {edit["code"] for edit in ends.values()} == {"budget"}
    assert {edit["reason"] for edit in ends.values()} == {"the calls of one flip are used up"}
    assert question_count(app) == 6 + 8
    app.run("-o", "evalstudio_shrink_flips=0")
    assert smallest(app) == {}


@pytest.mark.parametrize("workers", WORKERS)
def test_the_calls_of_the_run_are_never_exceeded(app: Project, workers: tuple[str, ...]) -> None:
    app.run("-o", "evalstudio_shrink_flips=7", *workers)
    ends = smallest(app)
    assert calls(ends) == question_count(app) - 6 <= 7
    assert "budget" in {edit["code"] for edit in ends.values()}


def test_the_budget_of_the_model_ends_the_search(app: Project) -> None:
    app.write("evalstudio.toml", CONFIG + "budget = { calls = 9 }\n")
    app.run(*SHRINK).assert_outcomes(passed=4, failed=2)
    ends = smallest(app)
    assert question_count(app) == 9
    assert {edit["code"] for edit in ends.values()} == {"interrupted"}
    assert all("budget.calls = 9" in edit["reason"] for edit in ends.values())


def test_a_run_that_replays_stored_answers_asks_nothing_again(app: Project) -> None:
    app.write("evalstudio.toml", STORING)
    app.run(*SHRINK)
    before, count = smallest(app), question_count(app)
    app.run(*SHRINK, "--evalstudio-replay")
    after = smallest(app)
    assert questions(after) == questions(before)
    assert (question_count(app), calls(after)) == (count, 0)


@pytest.mark.slow
def test_a_run_that_was_killed_in_its_search_continues_with_the_stored_answers(app: Project) -> None:
    app.write("evalstudio.toml", STORING)
    app.run(*SHRINK)
    complete, count = smallest(app), question_count(app)
    (app.folder / "asked.txt").unlink()
    app.write("crash", "")
    assert app.run_process(*SHRINK).ret == KILLED
    assert question_count(app) == KILLED_AT > 6
    (app.folder / "crash").unlink()
    app.run_process(*SHRINK).assert_outcomes(passed=4, failed=2)
    continued = smallest(app)
    assert questions(continued) == questions(complete)
    assert question_count(app) == count + 1  # the last question of the killed run has no answer
    assert calls(continued) == calls(complete) - (KILLED_AT - 1 - 6)


def test_precomputed_answers_without_a_model_say_so(project: Project) -> None:
    link = [{"type": "perturbation_source", "target": "card", "target_type": "test_case"}]
    row = {"input": CARD["prompt"], "output_condition": '"5 USD"'}
    project.lab(
        {**row, "key": "card", "actual_output": "5 USD"},
        {
            **row,
            "key": "typo",
            "input": "What does a crad cost?",
            "actual_output": "No.",
            "relationships": link,
        },
    )
    project.run("answers_lab.json", "-v", *SHRINK).stdout.fnmatch_lines(
        ["not shrunk: the answers are precomputed, and no model can be asked"]
    )
    _, items = project.record()
    (flip,) = items["typo[m]"]["flips"]
    assert flip["smallest"]["code"] == "no_model"


def test_an_estimate_names_the_calls(app: Project) -> None:
    result = app.run("--evalstudio-estimate", *SHRINK)
    result.stdout.fnmatch_lines(["not included: at most 100 calls that shrink flips"])
    assert not (app.folder / "asked.txt").exists()


def test_a_negative_number_is_refused(app: Project) -> None:
    result = app.run("-o", "evalstudio_shrink_flips=-1")
    result.stderr.fnmatch_lines(["*evalstudio_shrink_flips = -1: must be a whole number of 0 or more*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_personal_data_in_the_questions_is_masked(app: Project) -> None:
    app.suite({**CARD, "prompt": "What does a replacement card cost? Write to anna.smith@example.com"})
    app.run("-v", *SHRINK)
    (edit,) = smallest(app).values()
    assert "xare" in edit["question"] or edit["edits"] == 1
    assert "anna.smith" not in json.dumps(edit)
