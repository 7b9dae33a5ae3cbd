"""Output of pytest for failing tests and items, in each of its styles."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from support.project import Project

TESTS = """
import asyncio

from pytest_evalstudio import Outcome


async def ask():
    return "4"


def test_bad(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 5.", condition='"4"'))


def test_broken(eval_rouge, eval_case):
    eval_rouge.check(eval_case("q", "a b"))


def test_forgotten_await(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", ask(), condition='"4"'))


def test_coroutine_for_a_case(eval_text_matching):
    eval_text_matching.check(ask())


def test_outcomes(eval_text_matching, eval_case):
    good = eval_text_matching.score(eval_case("2+2?", "It is 4.", condition='"4"'))
    assert good == Outcome.score({"model_passes": 0.0})
"""


@pytest.fixture
def failing(project: Project) -> Project:
    project.write("test_app.py", TESTS)
    return project


@pytest.mark.parametrize("verbosity", ["-q", "-vv"])
@pytest.mark.parametrize("style", ["long", "short", "line", "no"])
def test_the_summary_names_the_reason_and_no_frame_is_ours(
    failing: Project, style: str, verbosity: str
) -> None:
    result = failing.run(f"--tb={style}", verbosity, "-W", "error")

    result.assert_outcomes(failed=5)
    text = result.stdout.str()
    assert "/pytest_evalstudio/" not in text
    result.stdout.fnmatch_lines_random(
        [
            "FAILED test_app.py::test_bad - text_matching: *",
            "FAILED test_app.py::test_broken - evaluation error: rouge is not applicable*",
            "FAILED test_app.py::test_forgotten_await - TypeError: eval_text_matching: act*",
        ]
    )
    if style in ("long", "short"):
        result.stdout.fnmatch_lines_random(
            [
                "*eval_text_matching.check(eval_case(*",
                "*actual_output is a coroutine that was not awaited*",
                "*the case is a coroutine that was not awaited*",
                "*model_passes: 1.0 != 0.0*",
            ]
        )
    if style == "line":
        result.stdout.fnmatch_lines(["*test_app.py:12: text_matching: *"])


def test_v_shows_the_primary_score_behind_the_outcome(project: Project) -> None:
    project.suite(
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "six", "prompt": "3+3?", "condition": '"7"'},
    )

    result = project.run("-v")

    result.stdout.fnmatch_lines(
        [
            "sums_suite.json::four[[]app[]] PASSED (text_matching 1)*",
            "sums_suite.json::six[[]app[]] FAILED (text_matching 0)*",
            "FAILED sums_suite.json::six[[]app[]] - text_matching*",
        ]
    )
    assert "(text_matching " not in project.run().stdout.str()


def test_a_junit_file_has_scores_thresholds_model_and_key(project: Project) -> None:
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    project.write(
        "test_app.py",
        "def test_good(eval_text_matching, eval_case):\n"
        "    eval_text_matching.check(eval_case('2+2?', 'It is 4.', condition='\"4\"', key='own'))\n",
    )

    project.run("--junitxml=junit.xml").assert_outcomes(passed=2)

    for case in ElementTree.parse(project.folder / "junit.xml").iter("testcase"):
        properties = {entry.get("name"): entry.get("value") for entry in case.iter("property")}
        model, key = ("app", "four") if case.get("name") != "test_good" else ("by hand", "own")
        expected = {
            "evalstudio.case": key,
            "evalstudio.model": model,
            "evalstudio.text_matching.model_passes": "1.0",
            "evalstudio.text_matching.model_passes.threshold": "0.5",
            "evalstudio.question": "2+2?",
            "evalstudio.answer": "It is 4.",
        }
        assert properties.items() >= expected.items()


def test_texts_of_a_junit_file_are_masked_and_short(project: Project) -> None:
    project.lab(
        {
            "key": "four",
            "input": "Write to jane.doe@example.com\x1b[31m\n2+2?",
            "actual_output": "It is 4. " * 500,
            "output_condition": '"4"',
        }
    )
    project.run("--junitxml=junit.xml").assert_outcomes(passed=1)

    (case,) = ElementTree.parse(project.folder / "junit.xml").iter("testcase")
    texts = {entry.get("name"): entry.get("value") or "" for entry in case.iter("property")}
    assert texts["evalstudio.question"] == "Write to ****.***@*******.***\\x1b[31m 2+2?"
    assert 500 < len(texts["evalstudio.answer"]) < 700


def test_the_most_severe_findings_follow_the_leaderboards(project: Project) -> None:
    rows = [
        {"key": f"c{n}", "input": "2+2?", "actual_output": "five", "expected_output": "4", "model_key": model}
        for n in range(3)
        for model in ("a", "b")
    ]
    project.lab(*rows)
    result = project.run("-v", "--evalstudio-evaluators", "rouge,bleu", "--tb=no")
    lines = result.stdout.lines
    first = next(index for index, line in enumerate(lines) if line.startswith("findings: "))
    assert lines[first].endswith(" high")
    titles = lines[first + 1 : first + 3]
    assert all(line.startswith("    high   ") and "2 of 2 models below 0.75" in line for line in titles)
    assert not lines[first + 3].startswith(" ")


def test_a_run_without_problems_has_no_findings(project: Project) -> None:
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    project.run("-v").stdout.fnmatch_lines(["findings: none"])


def test_a_failure_without_a_finding_is_not_contradicted(project: Project) -> None:
    project.suite(
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "six", "prompt": "3+3?", "condition": '"7"'},
    )
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("findings: none*")
