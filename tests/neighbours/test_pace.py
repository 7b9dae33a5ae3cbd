"""Timeouts, `-x` and reruns: each item is charged its own time, and a rerun asks again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.project import Project

SLOW = """
import time


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    time.sleep(120 if prompt == "hang" else 1.1)
    return "4"
"""
TOGETHER = """
import threading

eight = threading.Barrier(8, timeout=60)


def ask(prompt):
    eight.wait()
    return "4"
"""
ONE_AT_A_TIME = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
concurrency = 1
"""
IN_ORDER = ("-p", "no:randomly")
UNSTEADY = """
from pathlib import Path


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    attempts = Path("asked.txt").read_text().split().count(prompt)
    return "4" if prompt == "steady" or attempts > 2 else "5"
"""


def cases(*prompts: str) -> list[dict[str, Any]]:
    return [{"key": f"k{n}", "prompt": prompt, "condition": '"4"'} for n, prompt in enumerate(prompts)]


def questions_of(project: Project) -> list[str]:
    return (project.folder / "asked.txt").read_text().split()


@pytest.mark.neighbours("pytest_timeout")
def test_a_timeout_is_per_case(project: Project) -> None:
    project.write("app.py", SLOW)
    project.write("evalstudio.toml", ONE_AT_A_TIME)
    project.suite(*cases(*(f"q{n}" for n in range(8))))

    project.run(*IN_ORDER, "--timeout=8").assert_outcomes(passed=8)  # all together take 8.8 s


@pytest.mark.neighbours("pytest_timeout")
def test_a_hung_host_is_one_timed_out_item(project: Project) -> None:
    project.write("app.py", SLOW)
    project.suite(*cases("a", "hang", "b", "c"))

    result = project.run(*IN_ORDER, "--timeout=10", "--timeout-method=signal")

    result.assert_outcomes(passed=3, errors=1)
    verdicts = {key: item["verdict"] for key, item in project.record()[1].items()}
    assert verdicts == {"k0[app]": "passed", "k1[app]": "error", "k2[app]": "passed", "k3[app]": "passed"}
    assert sorted(questions_of(project)) == ["a", "b", "c", "hang"]


@pytest.mark.neighbours("pytest_timeout")
def test_answers_arrive_together_under_a_timeout(project: Project) -> None:
    project.write("app.py", TOGETHER)
    project.suite(*cases(*(f"q{n}" for n in range(8))))

    project.run(*IN_ORDER, "--timeout=120").assert_outcomes(passed=8)


@pytest.mark.parametrize(("option", "count"), [("-x", 1), ("--maxfail=2", 2), ("--sw", 1)])
def test_a_run_that_stops_asks_only_what_it_must(project: Project, option: str, count: int) -> None:
    project.write("app.py", UNSTEADY)
    project.suite(*cases(*(f"q{n}" for n in range(12))))

    project.run_with_cache(option).assert_outcomes(failed=count)

    assert len(questions_of(project)) == count


def test_steps_grow_while_nothing_fails(project: Project) -> None:
    project.write("app.py", UNSTEADY)
    steady = [{**case, "prompt": "steady"} for case in cases(*"abcdefgh")]
    project.suite(*steady, {"key": "last", "prompt": "other", "condition": '"4"'})
    with (project.folder / "evalstudio.toml").open("a") as file:
        file.write("cache = false\n")

    project.run(*IN_ORDER, "-x").assert_outcomes(passed=8, failed=1)

    assert len(questions_of(project)) == 9


def test_perturbed_cases_flip_as_in_a_plain_run_when_steps_are_small(project: Project) -> None:
    project.suite(
        {"key": "o", "prompt": "2+2?", "condition": '"4"'},
        {
            "key": "p",
            "prompt": "2 + 2?",
            "condition": '"4"',
            "categories": ["perturbed_by:comma:MEDIUM"],
            "relationships": [{"type": "perturbation_source", "target": "o", "target_type": "test_case"}],
        },
    )
    with (project.folder / "evalstudio.toml").open("a") as file:
        file.write("cache = false\n")

    project.run(*IN_ORDER, "-x").assert_outcomes(passed=1, failed=1)

    flips = project.record()[1]["p[app]"]["flips"]
    assert [flip["source"] for flip in flips] == ["o"]


@pytest.mark.neighbours("pytest_rerunfailures")
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_rerun_asks_again_and_the_item_is_flaky(project: Project, workers: tuple[str, ...]) -> None:
    project.write("app.py", UNSTEADY)
    project.suite(*cases("steady", "unsteady"))
    with (project.folder / "evalstudio.toml").open("a") as file:
        file.write("cache = true\n")

    result = project.run("-v", *IN_ORDER, "--reruns", "3", *workers)

    assert result.ret == 0
    assert result.parseoutcomes() == {"passed": 2, "rerun": 2}
    assert sorted(questions_of(project)) == ["steady", *["unsteady"] * 3]
    item = project.record()[1]["k1[app]"]
    assert item["flaky"] is True
    assert [attempt["verdict"] for attempt in item["attempts"]] == ["failed", "failed"]
    assert [attempt["answers"] for attempt in item["attempts"]] == [["5"], ["5"]]
    assert "flaky" not in project.record()[1]["k0[app]"]
    result.stdout.fnmatch_lines(["flaky: 1 test case passed only after a rerun: *::k1[[]app]"])
    page = json.loads((project.folder / "evalstudio-report" / "interpretation.json").read_text())
    assert page["run"]["flaky"] == ["sums_suite.json::k1[app]"]

    # Each attempt has an answer of its own in the cache: the second run asks nothing and is the same.
    assert project.run(*IN_ORDER, "--reruns", "3", *workers).parseoutcomes() == {"passed": 2, "rerun": 2}
    assert len(questions_of(project)) == 4


@pytest.mark.neighbours("pytest_rerunfailures")
def test_a_flaky_test_in_python_is_flaky_in_the_record(project: Project) -> None:
    project.write(
        "test_answers.py",
        "ANSWERS = ['5', '4']\n\n\n"
        "def test_answer(eval_text_matching, eval_case):\n"
        "    eval_text_matching.check(eval_case('2+2?', ANSWERS.pop(0), condition='\"4\"'))\n",
    )

    result = project.run(*IN_ORDER, "--reruns", "1")

    assert result.parseoutcomes() == {"passed": 1, "rerun": 1}
    (item,) = project.record()[1].values()
    assert item["flaky"] is True
    assert "text_matching: " in item["attempts"][0]["reason"]
