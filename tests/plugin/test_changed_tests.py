"""Tests that were edited since the baseline: left out of every verdict, and named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.command import evalstudio
from support.project import Project
from support.workers import WORKERS

APP = """
def ask(prompt):
    return "The fee is 5 EUR." if "letter" in prompt else "The fee is 7 EUR."
"""
BROKEN = """
def ask(prompt):
    return "The fee is 1 USD."
"""
BASELINE = ("--evalstudio-baseline", "evalstudio-baseline.jsonl")


def case(key: str, **more: object) -> dict[str, object]:
    return {"key": key, "prompt": f"Price of {key}?", "condition": '"EUR"', **more}


def save_baseline(project: Project, *cases: dict[str, object]) -> None:
    project.write("app.py", APP)
    project.suite(*cases)
    project.run("-q")
    assert evalstudio("baseline", "save", folder=project.folder).returncode == 0


def comparison(project: Project) -> dict[str, Any]:
    path = project.folder / "evalstudio-report" / "comparison.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("workers", WORKERS)
def test_conditions_that_were_replaced_hide_no_regression(project: Project, workers: tuple[str, ...]) -> None:
    cases = [case(f"letter {number}") for number in range(12)]
    save_baseline(project, *cases)
    project.write("app.py", BROKEN)
    project.suite(*({**each, "condition": '"USD"'} for each in cases[:9]), *cases[9:])

    result = project.run("-v", *BASELINE, *workers)

    result.assert_outcomes(passed=9, failed=3)
    figures = comparison(project)
    assert (figures["items"]["regressed"], figures["items"]["test_changed"], figures["matched"]) == (3, 9, 3)
    assert {tuple(each["parts"]) for each in figures["changed_tests"]} == {("condition",)}
    assert [metric["n"] for metric in figures["metrics"] if metric["decides"]] == [3]
    result.stdout.fnmatch_lines(
        [
            "3 of 3 cases regressed; 9 changed tests left out (condition). *",
            "items: 3 regressed, 9 test changed",
            "  changed test, left out: letter 0 of app: condition",
            "since run*: 3 of 3 cases regressed; 9 changed tests left out (condition)",
        ]
    )
    report = project.folder / "evalstudio-report"
    for name in ("summary.md", "interpretation.html"):
        assert "9 changed tests left out" in (report / name).read_text(encoding="utf-8").replace("\\", "")


def test_swapped_keys_are_changed_tests(project: Project) -> None:
    save_baseline(project, case("letter"), case("card"), case("third"))
    project.suite({**case("letter"), "key": "card"}, {**case("card"), "key": "letter"}, case("third"))

    project.run("-q", *BASELINE).assert_outcomes(passed=3)

    changed = comparison(project)["changed_tests"]
    assert {(each["key"], *each["parts"]) for each in changed} == {
        ("card", "question"),
        ("letter", "question"),
    }


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"prompt": "Price of a letter abroad?"}, "question"),
        ({"conversation": [{"role": "system", "content": "Be brief."}]}, "question"),
        ({"condition": '"EUR" AND "fee"'}, "condition"),
        ({"condition_on": "answer"}, "condition"),
        ({"expected_output": "5 EUR"}, "expected output"),
        ({"expects": "answer"}, "expects"),
        ({"expected_facts": ["The fee is 5 EUR."]}, "expected facts"),
        ({"guidelines": ["Be kind."]}, "guidelines"),
        ({"expected_documents": ["fees.md"]}, "expected documents"),
        ({"expected_tool_calls": []}, "expected tool calls"),
        ({"expected_state": {"/fee": 5}}, "expected state"),
        ({"evaluators": {"text_matching": {"threshold": 0.9}}}, "thresholds of text_matching"),
        (
            {"evaluators": {"text_matching": {"evaluate_retrieved_context": False}}},
            "options of text_matching",
        ),
    ],
)
def test_each_part_of_a_test_is_compared(project: Project, change: dict[str, object], part: str) -> None:
    save_baseline(project, case("letter"), case("second letter"))
    project.suite({**case("letter"), **change}, case("second letter"))

    project.run("-q", *BASELINE)

    (changed,) = comparison(project)["changed_tests"]
    assert (changed["key"], changed["parts"]) == ("letter", [part])


def test_texts_beside_the_test_are_no_change(project: Project) -> None:
    save_baseline(project, case("letter"), case("card"))
    settings = (project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    project.write("evalstudio.toml", f"flips = 'report'\n{settings}")
    project.suite(case("card", categories=["fees"], metadata={"owner": "Ann"}), case("letter", xfail="no"))

    project.run("-q", *BASELINE)

    assert comparison(project)["changed_tests"] == []


def test_a_changed_test_is_neither_a_regression_nor_a_known_failure(project: Project) -> None:
    save_baseline(project, case("letter"), case("card", condition='"9 EUR"'))
    project.suite(case("letter", condition='"6 EUR"'), case("card", condition='"8 EUR"'))

    result = project.run(*BASELINE, "-o", "evalstudio_known_failures=xfail", "--junitxml=junit.xml")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["not compared with the baseline, since the test changed: condition"])
    result.stdout.no_fnmatch_line("*regressed since*")
    assert '"evalstudio.baseline.class" value="test_changed"' in (project.folder / "junit.xml").read_text()


def test_changed_turns_and_documents_are_changed_tests(project: Project) -> None:
    turns = [{"prompt": "Price of a letter?"}, {"prompt": "And a card?", "condition": '"EUR"'}]
    project.write("fees.md", "A letter costs 5 EUR.")
    plain = {"key": "talk", "turns": turns}
    save_baseline(project, plain, case("letter"))
    project.suite({"key": "talk", "turns": [turns[0], {**turns[1], "condition": '"USD"'}]}, case("letter"))
    project.run("-q", *BASELINE)
    assert [each["parts"] for each in comparison(project)["changed_tests"]] == [["turns"]]


def test_compare_and_history_leave_changed_tests_out(project: Project) -> None:
    cases = [case(f"letter {number}") for number in range(4)]
    save_baseline(project, *cases)
    project.write("app.py", BROKEN)
    project.suite(*({**each, "condition": '"USD"'} for each in cases[:2]), *cases[2:])
    project.run("-q")

    result = evalstudio("compare", "evalstudio-baseline.jsonl", "evalstudio-report", folder=project.folder)
    runs = evalstudio("history", "evalstudio-baseline.jsonl", "evalstudio-report", folder=project.folder)

    assert "2 of 2 cases regressed; 2 changed tests left out (condition)." in result.stdout
    assert "4 items, 2 changed tests, run" in runs.stdout
    assert "pass_rate of app: █▁ 0.5" in runs.stdout
    assert "-1 since the run before" in runs.stdout


def test_a_baseline_without_digests_is_compared_with_one_note(project: Project) -> None:
    save_baseline(project, case("letter"), case("card"))
    path = project.folder / "evalstudio-baseline.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    old = [{name: value for name, value in json.loads(line).items() if name != "digest"} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in old), encoding="utf-8")
    project.suite(case("letter", condition='"6 EUR"'), case("card"))

    result = project.run("-v", *BASELINE)

    assert comparison(project)["items"]["regressed"] == 1
    text = str(result.stdout)
    assert (
        text.count("tests that were edited cannot be seen: the base run has test cases without digests") == 1
    )
