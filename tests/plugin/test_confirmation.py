"""A regressed item is asked again before it fails: noise is no regression, and a broken case is one."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from support.project import Project
from support.workers import WORKERS

APP = """
from collections import Counter
from pathlib import Path

asked = Counter()


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    asked[prompt] += 1
    broken, noisy = Path("broken.txt").read_text().split(), Path("noisy.txt").read_text().split()
    if prompt in broken or (prompt in noisy and asked[prompt] == 1):
        return "wrong"
    if prompt == "q9" and asked[prompt] > 1:
        raise RuntimeError("no connection")
    return "right"
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
concurrency = 1
retries = 0
"""
COUNT = 10


@pytest.fixture
def app(project: Project) -> Project:
    """A project with a baseline in which every case passes."""
    project.write("app.py", APP)
    state(project)
    project.write("evalstudio.toml", CONFIG)
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"right"'} for n in range(COUNT)))
    project.run("--evalstudio-output", "base").assert_outcomes(passed=COUNT)
    return project


def state(project: Project, *, broken: str = "", noisy: str = "") -> None:
    project.write("broken.txt", broken)
    project.write("noisy.txt", noisy)
    (project.folder / "asked.txt").unlink(missing_ok=True)


def run_with_baseline(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run("-v", "--evalstudio-baseline", "base", *arguments)


def question_count(project: Project, prompt: str) -> int:
    return (project.folder / "asked.txt").read_text().split().count(prompt)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_broken_case_fails_and_a_noisy_one_is_flaky(app: Project, workers: tuple[str, ...]) -> None:
    state(app, broken="q1", noisy="q2")
    result = run_with_baseline(app, *workers, "--junitxml", "junit.xml")
    result.assert_outcomes(failed=1, passed=COUNT - 1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "regressed since baseline*text_matching: passed -> failed",
            "confirmed: 3 of 3 repeats fail",
            "confirmation: 2 cases that failed were asked again: 1 confirmed, 1 not confirmed (flaky);"
            " how often chance confirms is not known, since the baseline has one answer of each case.*",
            "    not confirmed: sums_suite.json::k2[[]app]: 1 of * repeats fail",
        ]
    )
    assert (question_count(app, "q0"), question_count(app, "q1")) == (1, 3)
    _, items = app.record()
    assert items["k1[app]"]["confirmation"] == {"code": "confirmed", "passed": 0, "failed": 3, "cases": COUNT}
    noisy = items["k2[app]"]
    assert (noisy["verdict"], noisy["flaky"], noisy["confirmation"]["code"]) == (
        "passed",
        True,
        "not_confirmed",
    )
    assert (len(noisy["rows"]), noisy["verdicts"]["text_matching"]["passed"]) == (1, False)
    report = app.folder / "evalstudio-report"
    summary = (report / "summary.md").read_text()
    assert (
        "1 of 7 repeats fail"
        in summary.partition("<summary>Regressions that were not confirmed</summary>")[2]
    )
    data = json.loads((report / "interpretation.json").read_text())
    assert (data["confirmations"]["confirmed"], data["confirmations"]["not_confirmed"]) == (1, 1)
    changes = json.loads((report / "comparison.json").read_text())
    assert changes["items"]["regressed"] == 1
    failed = [
        case.get("name") for case in ET.parse(app.folder / "junit.xml").iter("testcase") if len(case) > 1
    ]
    assert failed == ["k1[app]"]


def test_noise_alone_does_not_fail_a_run(app: Project) -> None:
    state(app, noisy="q2 q3")
    result = run_with_baseline(app)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=COUNT)


def test_all_broken_cases_are_confirmed(app: Project) -> None:
    state(app, broken=" ".join(f"q{n}" for n in range(COUNT)))
    run_with_baseline(app).assert_outcomes(failed=COUNT)


def test_without_a_baseline_nothing_is_asked_again(app: Project) -> None:
    state(app, broken="q1", noisy="q2")
    app.run().assert_outcomes(failed=2, passed=COUNT - 2)
    assert question_count(app, "q1") == question_count(app, "q2") == 1


@pytest.mark.parametrize("switch", ["option", "configuration", "deterministic model"])
def test_confirmation_can_be_switched_off(app: Project, switch: str) -> None:
    state(app, noisy="q2")
    arguments = ("-o", "evalstudio_confirm=0") if switch == "option" else ()
    if switch == "configuration":
        app.write("evalstudio.toml", CONFIG + "[comparison]\nconfirm = 0\n")
    elif switch == "deterministic model":
        app.write("evalstudio.toml", CONFIG + "deterministic = true\n")
    run_with_baseline(app, *arguments).assert_outcomes(failed=1, passed=COUNT - 1)
    assert question_count(app, "q2") == 1


def test_a_case_that_cannot_be_asked_again_fails(app: Project) -> None:
    state(app, noisy="q9")
    result = run_with_baseline(app)
    result.assert_outcomes(failed=1, passed=COUNT - 1)
    result.stdout.fnmatch_lines(
        ["could not be confirmed: 1 of 1 repeats fail, then a repeat without a verdict"]
    )


def test_a_budget_holds_for_repeats_too(app: Project) -> None:
    state(app, broken="q1")
    app.write("evalstudio.toml", CONFIG + f"budget = {{calls = {COUNT + 1}}}\n")
    result = run_with_baseline(app)
    result.assert_outcomes(failed=1, passed=COUNT - 1)
    result.stdout.fnmatch_lines(
        ["could not be confirmed: 2 of 2 repeats fail, then model 'app' was not asked*"]
    )


def test_a_case_that_failed_in_the_baseline_is_not_asked_again(app: Project) -> None:
    state(app, broken="q1")
    app.run("--evalstudio-output", "base")
    state(app, broken="q1")
    run_with_baseline(app).assert_outcomes(failed=1, passed=COUNT - 1)
    assert question_count(app, "q1") == 1


def test_a_negative_number_is_refused(app: Project) -> None:
    result = run_with_baseline(app, "-o", "evalstudio_confirm=-1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*evalstudio_confirm = -1: must be a whole number of 0 or more*"])


def test_an_answer_that_is_empty_by_chance_is_asked_again(app: Project) -> None:
    app.write("app.py", APP.replace('return "wrong"', 'return ""'))
    state(app, broken="q1", noisy="q2")
    result = run_with_baseline(app)
    result.assert_outcomes(failed=1, passed=COUNT - 1)
    _, items = app.record()
    assert items["k1[app]"]["confirmation"]["code"] == "confirmed"
    assert items["k2[app]"]["confirmation"]["code"] == "not_confirmed"


def test_a_case_that_failed_by_another_evaluator_is_confirmed_by_those_that_passed(app: Project) -> None:
    reference = "An answer of seven words is expected."
    app.write("evalstudio.toml", CONFIG.replace('"text_matching"', '"text_matching", "bleu"'))
    app.suite(
        *(
            {"key": f"k{n}", "prompt": f"q{n}", "condition": '"right"', "expected_output": reference}
            for n in range(3)
        )
    )
    app.run("--evalstudio-output", "base").assert_outcomes(failed=3)

    state(app, broken="q1", noisy="q2")
    result = run_with_baseline(app, "-o", "evalstudio_known_failures=xfail")

    result.assert_outcomes(failed=1, xfailed=2)
    _, items = app.record()
    assert items["k0[app]"].get("confirmation") is None, "it fails as before and is not asked again"
    assert items["k1[app]"]["confirmation"] == {
        "code": "confirmed",
        "passed": 0,
        "failed": 2,
        "cases": 3,
        "evaluators": ["text_matching"],
    }
    assert items["k2[app]"]["confirmation"]["code"] == "not_confirmed"
    changes = json.loads((app.folder / "evalstudio-report" / "comparison.json").read_text())
    assert (changes["items"]["regressed"], changes["items"]["still_failing"]) == (1, 2)


def test_a_baseline_with_repeats_gives_each_case_its_own_rate(app: Project) -> None:
    cases = COUNT - 1  # the last one cannot be asked twice
    app.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"right"'} for n in range(cases)))
    app.run("--evalstudio-output", "base", "--evalstudio-runs", "5").assert_outcomes(passed=cases)
    saved = app.run_command("baseline", "save", "base", "-o", "five.jsonl", "--runs", "5")
    assert saved.ret == 0
    state(app, broken="q1", noisy="q2")

    result = app.run("-v", "--evalstudio-baseline", "five.jsonl")

    result.assert_outcomes(failed=1, passed=cases - 1)
    result.stdout.fnmatch_lines(
        [
            "confirmed: 5 of 5 repeats fail, 0 of 5 in the baseline (exact two-sample test, level*9 cases)",
            "confirmation: 2 cases that failed were asked again: 1 confirmed, 1 not confirmed (flaky);"
            " at most 5 % of unchanged pairs of runs have a confirmed regression.",
        ]
    )
    _, items = app.record()
    confirmation = items["k1[app]"]["confirmation"]
    assert (confirmation["baseline_passed"], confirmation["baseline_runs"]) == (5, 5)


def test_a_baseline_with_fewer_answers_than_asked_for_is_refused(app: Project) -> None:
    refused = app.run_command("baseline", "save", "base", "-o", "five.jsonl", "--runs", "5")
    assert refused.ret == 2
    refused.stderr.fnmatch_lines(["*10 cases have fewer than 5 answers, e.g. *--evalstudio-runs 5*"])
