"""The summary of a workflow: the same finding of several steps is listed once."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.artifacts.summary import Quality, StepSummary, _problems
from pytest_evalstudio.core.problems import Problem


def step(name: str, *problems: Problem) -> StepSummary:
    texts = dict.fromkeys(("workflow", "step", "description", "summary", "waits", "finished"), "")
    return StepSummary(
        **texts,
        number=1,
        name=name,
        status="completed",
        lacks=(),
        parameters={},
        notes=(),
        figures={},
        problems=problems,
        pictures={},
        seconds=0.0,
    )


def problem(description: str, severity: str = "low", **attributes: Any) -> Problem:
    return Problem(
        description=description,
        severity=severity,
        problem_type="accuracy",
        avid="P0200",
        attributes=attributes,
        actions="",
        resources=(),
    )


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        pytest.param(problem("a"), problem("a"), 1, id="the same words"),
        pytest.param(problem("a"), problem("b"), 2, id="other words"),
        pytest.param(
            problem("a", test_case_keys=["x", "y"]),
            problem("b", test_case_keys=["y", "x"]),
            1,
            id="the same test cases",
        ),
        pytest.param(
            problem("a", test_case_keys=["x"], metric="m"),
            problem("b", test_case_keys=["x"], metric="n"),
            2,
            id="other metrics",
        ),
    ],
)
def test_the_same_finding_of_two_steps_is_listed_once(first: Problem, second: Problem, count: int) -> None:
    assert len(_problems((step("One", first), step("Two", second)))) == count


def test_the_most_severe_of_equal_findings_names_all_steps() -> None:
    mild, severe = problem("a", test_case_keys=["x"]), problem("b", "high", test_case_keys=["x"])
    (finding,) = _problems((step("One", mild), step("Two", severe)))
    assert (finding.severity, finding.description, finding.step) == ("high", "b", "Two, One")


@pytest.mark.parametrize(
    ("passed", "passed_all", "words"),
    [
        (19, 5, "19 of 40 test cases pass the deciding metrics; 5 pass all metrics"),
        (19, 19, "19 of 40 test cases pass the deciding metrics"),
        (5, None, "5 of 40 test cases pass all metrics"),
    ],
)
def test_two_counts_of_one_run_say_what_decides_them(passed: int, passed_all: int | None, words: str) -> None:
    quality = Quality(
        passed=passed,
        judged=40,
        share=passed / 40,
        interval=(0.0, 1.0),
        verdicts={"failed": 40 - passed, "passed": passed},
        passed_all=passed_all,
    )
    assert quality.words == words
