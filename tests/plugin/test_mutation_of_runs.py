"""A run is damaged with the options of its test cases, and its page gets a section."""

from __future__ import annotations

import json

from support.project import Project

CASES = (
    {"key": "two", "prompt": "2+2?", "condition": '"4"'},
    {"key": "three", "prompt": "3+3?", "condition": '"6"', "evaluators": {"text_matching": {}}},
    {"key": "wrong", "prompt": "4+4?", "condition": '"8"'},
)


def test_a_run_and_its_page(project: Project) -> None:
    project.suite(*CASES)
    project.run().assert_outcomes(passed=2, failed=1)
    process = project.run_command("mutate", "evalstudio-report", "-o", "mutation")
    assert process.ret == 0, process.stderr.str()
    process.stdout.fnmatch_lines(["evalstudio-report: 2 passing answers of 2 cases*", "mutation score *"])
    result = json.loads((project.folder / "mutation" / "mutation.json").read_text())
    kinds = {share["name"]: share["failed"] for share in result["kinds"]}
    assert kinds["number"] == kinds["refusal"] == 2
    assert kinds["negation"] == 0
    page = (project.folder / "mutation" / "interpretation.html").read_text()
    assert "Mutation test of the suite" in page
    assert "It is not 4." in page.replace("<ins>", "").replace("</ins>", "")
    original = (project.folder / "evalstudio-report" / "interpretation.html").read_text()
    assert "Mutation test of the suite" not in original


def test_cases_of_two_files_with_one_key_are_two(project: Project) -> None:
    for name, condition in (("strict", '"4"'), ("lax", 'NOT "zebra"')):
        case = {"key": "sum", "prompt": "2+2?", "condition": condition}
        project.write(f"{name}_suite.json", json.dumps({"tests": [{"test_cases": [case]}]}))
    project.run().assert_outcomes(passed=2)
    assert project.run_command("mutate", "evalstudio-report", "-o", "mutation").ret == 0
    result = json.loads((project.folder / "mutation" / "mutation.json").read_text())
    failed = {share["name"]: share["failed"] for share in result["by_case"]}
    assert failed["strict_suite.json::sum"] > 0
    assert failed["lax_suite.json::sum"] < failed["strict_suite.json::sum"]
