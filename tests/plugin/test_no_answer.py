"""An empty answer is a failure of its own: in the terminal, in every file of the report, and in checks."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from pytest_evalstudio.analysis.analyse import Analysis, analyse
from pytest_evalstudio.analysis.summary.models import model_summaries
from pytest_evalstudio.core.plugins.registry import Registry
from support.project import Project

GOOD = {"key": "fee", "prompt": "What is the fee?", "condition": '"5 USD"'}
SILENT = {"key": "limit", "prompt": "What is the limit?", "condition": '"100"'}
APP = """
ANSWERS = {"What is the fee?": "The fee is 5 USD."}


def ask(prompt):
    return ANSWERS.get(prompt, "\\u200b\\n")
"""
CONFIG = """
[[model]]
name = "app"
host = "python"
target = "app:ask"
"""
HEADLINE = "no answer: the model returned an empty text"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester, with_app=False)
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    return project


def analysed(project: Project) -> Analysis:
    return analyse(project.folder / "evalstudio-report" / "record.jsonl", {})


def test_an_empty_answer_is_one_failure_with_its_reason(project: Project) -> None:
    project.suite(GOOD, SILENT)

    result = project.run("-v", "sums_suite.json", "--junitxml=junit.xml")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            HEADLINE,
            "question:  What is the limit?",
            "answer:    (empty)",
            "*high   No answer: model 'app' returned an empty text for 1 question ('limit')",
            "no answer: 1 of 2 answers is empty (app)",
            f"FAILED sums_suite.json::limit[[]app] - {HEADLINE}",
        ]
    )
    result.stdout.no_fnmatch_line("*leak*limit*")
    _, items = project.record()
    assert (items["limit[app]"]["verdict"], items["limit[app]"]["code"]) == ("failed", "answer_empty")
    assert "code" not in items["fee[app]"]

    [case] = [
        case
        for case in ET.parse(project.folder / "junit.xml").iter("testcase")
        if case.find("failure") is not None
    ]
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == HEADLINE
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert properties["evalstudio.code"] == "answer_empty"

    report = project.folder / "evalstudio-report"
    assert f"- What is the limit? (app, limit): {HEADLINE}" in (report / "summary.md").read_text(
        encoding="utf-8"
    )
    page = (report / "interpretation.html").read_text(encoding="utf-8")
    assert "<h4><bdi>Empty answer</bdi>" in page
    assert HEADLINE in page


def test_silence_is_no_leak_and_does_not_make_the_model_unfit(project: Project) -> None:
    project.suite(GOOD, *({**SILENT, "key": f"limit{n}"} for n in range(3)))
    project.run("sums_suite.json")

    analysis = analysed(project)
    for id in ("pii_leakage", "sensitive_data_leakage"):
        [standing] = analysis.leaderboards[id].standings
        assert (standing.judged, standing.passed, standing.pass_rate) == (1, 1, 1.0)
    kinds = {problem.problem_type for problem in analysis.problems}
    assert not kinds & {"privacy", "security"}
    [problem] = [problem for problem in analysis.problems if problem.description.startswith("No answer")]
    assert (problem.attributes["count"], problem.severity, problem.problem_type) == (3, "high", "accuracy")
    [model] = model_summaries(analysis)
    assert model.conformity == "meets conditions"
    assert "no answer to 3 of 4 questions: the text is empty" in model.limits


def test_a_model_that_never_answers_misses_its_conditions(project: Project) -> None:
    project.suite(SILENT)
    project.run("sums_suite.json")
    [model] = model_summaries(analysed(project))
    assert (model.conformity, model.missed) == (
        "misses conditions",
        ("no answer: every answer is empty (1)",),
    )


def test_a_leak_is_still_a_leak(project: Project) -> None:
    """The control: the same suite, with a model that answers with a secret instead of nothing."""
    project.write("app.py", APP.replace("\\u200b\\n", "Your card is 4111 1111 1111 1111."))
    project.suite(GOOD, SILENT)
    project.run("sums_suite.json")
    analysis = analysed(project)
    assert "privacy" in {problem.problem_type for problem in analysis.problems}
    [model] = model_summaries(analysis)
    assert model.conformity == "misses conditions"


def test_an_expected_failure_covers_an_empty_answer(project: Project) -> None:
    project.suite({**SILENT, "xfail": "not built yet"})
    project.run("sums_suite.json").assert_outcomes(xfailed=1)


def test_files_of_ci_services_name_it_as_a_rule(project: Project) -> None:
    project.suite(SILENT)
    project.run(
        "sums_suite.json", "-o", "evalstudio_code_quality=quality.json", "-o", "evalstudio_sarif=run.sarif"
    )
    [issue] = json.loads((project.folder / "quality.json").read_text(encoding="utf-8"))
    assert (issue["check_name"], issue["severity"]) == ("answer_empty", "major")
    [actual] = json.loads((project.folder / "run.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert (actual["ruleId"], actual["level"]) == ("answer_empty", "warning")


def test_silence_under_a_perturbation_fails_and_flips_nothing(project: Project) -> None:
    links = [{"type": "perturbation_source", "target": "fee", "target_type": "test_case"}]
    project.suite(
        GOOD,
        {
            **GOOD,
            "key": "typo",
            "prompt": "Waht is the fee?",
            "relationships": links,
            "categories": ["perturbed_by:comma:LOW"],
        },
    )
    project.run("sums_suite.json").assert_outcomes(passed=1, failed=1)
    _, items = project.record()
    assert items["typo[app]"]["code"] == "answer_empty"
    assert not items["typo[app]"]["flips"]


CHECKS = """
def test_silence(eval_pii_leakage, eval_case):
    eval_pii_leakage.check(eval_case("What is the fee?", ""))


def test_tools(eval_text_matching, eval_case):
    case = eval_case("What is the fee?", "", condition='NOT "6"', tool_calls=[{"name": "fees"}])
    eval_text_matching.check(case)


def test_score(eval_pii_leakage, eval_case):
    outcome = eval_pii_leakage.score(eval_case("What is the fee?", ""))
    assert (outcome.status, outcome.code) == ("not_applicable", "answer_empty")
"""


def test_a_check_of_an_empty_answer_fails(project: Project) -> None:
    project.write("test_checks.py", CHECKS)
    result = project.run("test_checks.py")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([f"*ThresholdMissed: {HEADLINE}*"])
    _, items = project.record()
    assert {name: item["verdict"] for name, item in items.items()} == {
        "test_silence": "failed",
        "test_tools": "passed",
        "test_score": "xfailed",
    }


def test_a_lab_keeps_tool_calls_so_that_such_an_answer_is_not_empty(project: Project) -> None:
    row: dict[str, Any] = {"input": "Fee?", "actual_output": "", "output_condition": 'NOT "x"'}
    project.lab({**row, "key": "calls", "tool_calls": [{"name": "fees"}]}, {**row, "key": "silent"})
    project.run("answers_lab.json").assert_outcomes(passed=1, failed=1)
    _, items = project.record()
    assert items["silent[m]"]["code"] == "answer_empty"
    assert items["calls[m]"]["rows"][0]["answer"]["tool_calls"] == [{"name": "fees"}]


@pytest.mark.parametrize("id", ["pii_leakage", "sensitive_data_leakage", "toxicity", "looping_detection"])
def test_default_evaluators_read_answers(id: str) -> None:
    assert "actual_output" in Registry().evaluators.spec(id).needs
