"""`expects` and `condition_on` of a case, from its file to the record, the exports and the page."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.sides import case_digest
from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.importers.exporting import FORMATS, export
from pytest_evalstudio.record.reader import RecordReader
from support.project import Project

APP = """
def ask(prompt):
    text = "The fee is 5 USD." if "fee" in prompt else "I'm sorry, but I don't know."
    return {"answer": text, "context": ["The fee is 5 USD."]}
"""
CONFIG = """
evaluators = ["text_matching", "lexical_groundedness", "pii_leakage"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
"""
ANSWERED = {"key": "fee", "prompt": "What is the fee?", "condition": '"5 USD"'}
REFUSED = {"key": "weather", "prompt": "How is the weather?", "expects": "refusal"}
ON_ANSWER = {
    "key": "polite",
    "prompt": "How is the sea?",
    "condition": '"sorry"',
    "condition_on": "answer",
    "evaluators": ["text_matching"],
}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester, with_app=False)
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    return project


def test_an_expected_refusal_and_a_condition_on_the_answer_pass(project: Project) -> None:
    project.suite(ANSWERED, REFUSED, ON_ANSWER)
    project.run("sums_suite.json").assert_outcomes(passed=3)
    _, items = project.record()
    refused = items["weather[app]"]["rows"][0]
    assert refused["expects"] == "refusal"
    assert refused["outcomes"]["lexical_groundedness"]["code"] == "refusal_expected"
    assert items["polite[app]"]["rows"][0]["condition_on"] == "answer"
    assert not {"expects", "condition_on"} & set(items["fee[app]"]["rows"][0])


def test_without_them_the_same_cases_fail_and_say_why(project: Project) -> None:
    plain = [
        {name: value for name, value in case.items() if name not in ("expects", "condition_on")}
        for case in (REFUSED, ON_ANSWER)
    ]
    project.suite(*plain)
    result = project.run("sums_suite.json")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "unexpected refusal: the model did not answer; *",
            "lexical_groundedness: supported_words 0*",
            'retrieval: text_matching: context: lacks "sorry"',
            "FAILED sums_suite.json::weather[[]app] - unexpected refusal*",
            'FAILED sums_suite.json::polite[[]app] - retrieval: lacks "sorry"*',
        ]
    )
    _, items = project.record()
    assert items["weather[app]"]["code"] == "unexpected_refusal"
    report = project.folder / "evalstudio-report"
    summary = (report / "summary.md").read_text(encoding="utf-8")
    assert "- How is the weather? (app, weather): unexpected refusal: " in summary
    assert "- How is the sea? (app, polite): Retrieval: Text matching: context: lacks" in summary
    page = (report / "interpretation.html").read_text(encoding="utf-8")
    assert "<h4><bdi>Refused: the answer declines the question</bdi>" in page


def test_an_answer_where_a_refusal_is_expected_fails(project: Project) -> None:
    project.suite({**REFUSED, "prompt": "What is the fee?"})
    result = project.run("sums_suite.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["no refusal: the case expects one, and the model answered", "expects:   a refusal"]
    )
    _, items = project.record()
    assert items["weather[app]"]["code"] == "refusal_missing"


def test_phrases_of_the_configuration_count(project: Project) -> None:
    project.write("app.py", APP.replace("I'm sorry, but I don't know.", "Bohužel nevím."))
    project.suite(REFUSED)
    project.run("sums_suite.json").assert_outcomes(failed=1)
    project.write("evalstudio.toml", 'refusal_phrases = ["bohužel nevím"]\n' + CONFIG)
    project.run("sums_suite.json").assert_outcomes(passed=1)


def test_the_exports_have_them(project: Project) -> None:
    project.suite(REFUSED, ON_ANSWER)
    project.run("sums_suite.json")
    [folder] = (project.folder / "evalstudio-report").rglob("*text_matching*/**/text_csv")
    with open(folder / "explanation.csv", encoding="utf-8", newline="") as file:
        rows = {row["test_case_key"]: row for row in csv.DictReader(file)}
    assert (rows["weather"]["expects"], rows["weather"]["condition_on"]) == ("refusal", "")
    assert (rows["polite"]["expects"], rows["polite"]["condition_on"]) == ("", "answer")


def test_suites_labs_and_data_sets_keep_them(tmp_path: Path) -> None:
    suite = TestSuite.model_validate({"tests": [{"test_cases": [ANSWERED, REFUSED, ON_ANSWER]}]})
    suite.save(tmp_path / "a_suite.json")
    second_suite = TestSuite.load(tmp_path / "a_suite.json")
    assert [(case.expects, case.condition_on) for _, case in second_suite.cases()] == [
        ("", ""),
        ("refusal", ""),
        ("", "answer"),
    ]
    models = [{"name": "parrot", "host": "scripted", "answers": {"*": "I don't know."}}]
    with LabBuilder(suite, models) as builder:
        builder.build().save(tmp_path / "a_lab.json")
    rows = TestLab.load(tmp_path / "a_lab.json").raw_dataset.inputs
    assert [(row.expects, row.condition_on) for row in rows] == [("", ""), ("refusal", ""), ("", "answer")]
    for name in ("a_dataset.json", "a_dataset.csv"):
        LlmDataset(inputs=rows).save(tmp_path / name)
        loaded = LlmDataset.load(tmp_path / name).inputs
        assert [(row.expects, row.condition_on) for row in loaded] == [
            ("", ""),
            ("refusal", ""),
            ("", "answer"),
        ]


@pytest.mark.parametrize(
    ("field", "fault"),
    [
        ({"expects": "refuse"}, 'expects: expected "answer" or "refusal", found the string "refuse"'),
        ({"condition_on": 1}, 'condition_on: expected "answer", "context" or "both", found 1'),
    ],
)
def test_validate_names_a_wrong_word(
    project: Project, capsys: pytest.CaptureFixture[str], field: dict[str, Any], fault: str
) -> None:
    path = project.suite({**ANSWERED, **field})
    assert main(["validate", str(path)]) == 1
    assert f"/tests/0/test_cases/0/{fault}" in capsys.readouterr().out
    rows = project.lab({"input": "?", "actual_output": "5", **field})
    assert main(["validate", str(rows)]) == 1
    assert f"/dataset/inputs/0/{fault}" in capsys.readouterr().out
    with pytest.raises(ConfigurationError, match=next(iter(field))):
        make_case("?", "5", **field)


def test_the_schema_names_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "suite"]) == 0
    properties = json.loads(capsys.readouterr().out)["$defs"]["TestCase"]["properties"]
    assert set(properties["expects"]["enum"]) == {"", "answer", "refusal"}
    assert set(properties["condition_on"]["enum"]) == {"", "answer", "context", "both"}


def test_a_changed_expectation_is_a_changed_case(project: Project) -> None:
    digests = set()
    for case in (REFUSED, {**REFUSED, "expects": "answer"}, {**REFUSED, "condition_on": "answer"}):
        project.suite(case)
        project.run("sums_suite.json")
        [item] = RecordReader(project.folder / "evalstudio-report" / "record.jsonl").items()
        digests.add(case_digest(item.rows[0]))
    assert len(digests) == 3


def test_a_perturbed_case_expects_what_its_original_does(project: Project) -> None:
    project.suite({**REFUSED, "prompt": "Is it lazy today?"})
    project.run("sums_suite.json", "--evalstudio-perturb=qwerty:high").assert_outcomes(passed=2)
    _, items = project.record()
    assert [item["rows"][0]["expects"] for item in items.values()] == ["refusal", "refusal"]


@pytest.mark.parametrize("kind", list(FORMATS))
def test_other_tools_lose_them_and_the_export_says_so(kind: str) -> None:
    dataset = LlmDataset()
    dataset.add_input("?", key="a", expects="refusal", condition_on="answer")
    _, losses = export(kind, dataset)
    assert {"expects", "condition_on"} <= set(losses)
