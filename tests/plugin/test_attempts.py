"""Items that a crash ends, and tests that a plugin runs again."""

from __future__ import annotations

import json

import pytest

from support.project import Project

DYING = """
import os


def ask(prompt):
    if prompt.startswith("die") and not os.path.exists(prompt):
        open(prompt, "w").close()
        os._exit(1)
    return "4"
"""
SECOND_ATTEMPT_PASSES = """
ATTEMPTS = []


def test_answer(eval_text_matching, eval_case):
    ATTEMPTS.append(1)
    if len(ATTEMPTS) == 1:
        eval_text_matching.check(eval_case("first", "4", condition='"4"'))
        eval_text_matching.check(eval_case("second", "5", condition='"4"'))
    eval_text_matching.check(eval_case("last", "4", condition='"4"'))
"""
SECOND_ATTEMPT_CHECKS_NOTHING = """
import pytest

ATTEMPTS = []


def test_answer(eval_text_matching, eval_case):
    ATTEMPTS.append(1)
    if len(ATTEMPTS) == 1:
        eval_text_matching.check(eval_case("first", "5", condition='"4"'))
    pytest.skip("nothing to check")
"""


@pytest.mark.slow
def test_an_item_whose_worker_died_is_an_error_in_the_record(project: Project) -> None:
    project.write("app.py", DYING)
    project.suite(
        *(
            {"key": f"k{n}", "prompt": f"die{n}" if n in (7, 20) else f"q{n}", "condition": '"4"'}
            for n in range(30)
        )
    )

    result = project.run("-n", "2")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    header, items = project.record()
    assert len(items) == 30
    dead = [item for item in items.values() if item["verdict"] == "error"]
    assert len(dead) == 2
    for item in dead:
        assert item["reason"] == "worker crashed"
        assert item["verdicts"]["text_matching"]["status"] == "error"
        assert item["model_key"] in header["models"]
    actual = json.loads((project.folder / "evalstudio-report" / "interpretation.json").read_text())
    assert actual["run"]["verdicts"]["error"] == 2
    assert [item["index"] for item in items.values()] == list(range(30))


def test_the_checks_of_an_attempt_that_was_run_again_do_not_count(project: Project) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write("test_answers.py", SECOND_ATTEMPT_PASSES)

    result = project.run("-v", "--reruns", "1", "--evalstudio-gate", "pass_rate(text_matching) >= 1")

    result.assert_outcomes(passed=1)
    _, items = project.record()
    assert [item["rows"][0]["input"] for item in items.values()] == ["last"]
    result.stdout.fnmatch_lines(["gate pass_rate(text_matching) >= 1: met*"])
    assert result.ret == 0


def test_an_attempt_without_checks_leaves_none_of_the_attempt_before(project: Project) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write("test_answers.py", SECOND_ATTEMPT_CHECKS_NOTHING)

    project.run("--reruns", "1").assert_outcomes(skipped=1)

    assert project.record()[1] == {}


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-only"])
def test_a_plan_of_the_set_up_asks_no_model(project: Project, option: str) -> None:
    project.write("app.py", "def ask(prompt):\n    open('asked.txt', 'w').close()\n    return '4'\n")
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    assert project.run(option).ret == 0

    assert not (project.folder / "asked.txt").exists()
    assert not (project.folder / "evalstudio-report").exists()


@pytest.mark.parametrize("evaluators", [",", "", " , "])
def test_an_empty_list_of_evaluators_is_a_usage_error(project: Project, evaluators: str) -> None:
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    result = project.run(f"--evalstudio-evaluators={evaluators}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--evalstudio-evaluators names no evaluator*"])


def test_a_run_that_evaluated_nothing_says_so(project: Project) -> None:
    project.suite({"key": "four", "prompt": "2+2?"})

    result = project.run("--evalstudio-evaluators", "rouge")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        ["nothing was evaluated: 1 test case ran, and no evaluator gave a score or an error*"]
    )


def test_a_run_whose_test_cases_are_all_deselected_says_so(project: Project) -> None:
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    project.write("test_plain.py", "def test_plain():\n    pass\n")

    result = project.run("-k", "plain")

    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["evalstudio: nothing was evaluated: no test case of 1 file ran"])
