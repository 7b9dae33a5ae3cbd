"""Several accepted answers: `expected_output` as a list, in suites, turns, data sets and tests in Python."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.analysis.aggregates import aggregates_of
from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.record.reader import RecordReader
from support.project import Project

ANSWERS = {"Fee?": "a small fee", "Label?": "spam", "Term?": "It lasts two years.", "Unknown?": "blue"}
APP = f"ANSWERS = {ANSWERS!r}\n\n\ndef ask(prompt):\n    return ANSWERS[prompt]\n"
TEXT_MATCHING = {"text_matching": {"expected_output_as_condition": True}}
ACCEPTED = ["15 USD", "a small fee"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("app.py", APP)
    return project


@pytest.mark.parametrize(
    ("evaluator", "options"),
    [("text_matching", TEXT_MATCHING["text_matching"]), ("classification", {}), ("rouge", {})],
)
def test_any_accepted_answer_passes_and_none_of_them_fails(
    project: Project, evaluator: str, options: dict[str, object]
) -> None:
    evaluators = {evaluator: options}
    project.suite(
        {"key": "any", "prompt": "Fee?", "expected_output": ACCEPTED, "evaluators": evaluators},
        {"key": "none", "prompt": "Unknown?", "expected_output": ACCEPTED, "evaluators": evaluators},
        {"key": "first_alone", "prompt": "Fee?", "expected_output": "15 USD", "evaluators": evaluators},
    )
    project.run().assert_outcomes(passed=1, failed=2)
    _, items = project.record()
    row = items["any[app]"]["rows"][0]
    assert (row["expected_output"], row["accepted_outputs"]) == ("15 USD", ["a small fee"])
    outcome = row["outcomes"][evaluator]
    assert outcome["accepted_output"] == 2
    assert "compared with accepted answer 2 of 2" in outcome["reason"]
    missing = items["none[app]"]["rows"][0]["outcomes"][evaluator]
    assert "none of 2 accepted answers scores better" in missing["reason"]
    assert "accepted_output" not in items["first_alone[app]"]["rows"][0]["outcomes"][evaluator]


def test_a_failure_shows_all_accepted_answers(project: Project) -> None:
    accepted = ["red", "green", "yellow", "black", "white"]
    project.suite(
        {"key": "none", "prompt": "Unknown?", "expected_output": accepted, "evaluators": TEXT_MATCHING}
    )
    result = project.run()
    result.stdout.fnmatch_lines(
        [
            "*expected:  red*",
            "*or: *green*",
            "*or: *yellow*",
            "*or 2 more accepted answers*",
            "*answer: *blue*",
        ]
    )


def test_the_confusion_matrix_has_the_accepted_label_that_was_given(project: Project) -> None:
    labels = {"expected_output": ["ham", "spam"], "evaluators": ["classification"]}
    project.suite(
        {"key": "any", "prompt": "Label?", **labels},
        {"key": "none", "prompt": "Unknown?", **labels},
    )
    project.run()
    record = project.folder / "evalstudio-report" / "record.jsonl"
    analysis = analyse(record, aggregates_of(RecordReader(record).run, Registry()))
    board = analysis.leaderboards["classification"]
    table = board.standings[0].table
    assert table["labels"] == ["ham", "spam", "blue"]
    assert table["matrix"] == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_turns_have_several_accepted_answers_too(project: Project) -> None:
    turns = [
        {"prompt": "Fee?", "expected_output": ACCEPTED},
        {"prompt": "Label?", "expected_output": ["ham", "spam"]},
    ]
    project.suite({"key": "talk", "turns": turns, "evaluators": TEXT_MATCHING})
    project.run().assert_outcomes(passed=1)
    turns[1]["expected_output"] = ["ham", "eggs"]
    project.suite({"key": "talk", "turns": turns, "evaluators": TEXT_MATCHING})
    project.run().assert_outcomes(failed=1)


@pytest.mark.parametrize("expected", [["15 USD", ""], ["15 USD", 15], [["15 USD"]]])
def test_a_blank_or_other_entry_is_an_error_at_its_place(project: Project, expected: list[object]) -> None:
    project.suite({"key": "bad", "prompt": "Fee?", "expected_output": expected})
    result = project.run()
    result.stdout.fnmatch_lines(["*/tests/0/test_cases/0*each of several accepted answers must be a text*"])
    result.assert_outcomes(errors=1)


def test_an_empty_list_states_no_expectation(project: Project) -> None:
    project.suite({"key": "empty", "prompt": "Fee?", "expected_output": []})
    result = project.run()
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*unchecked*"])


TESTS = """
def test_fee(eval_rouge, eval_case):
    case = eval_case("Fee?", "a small fee", expected_output=["15 USD", "a small fee"])
    assert eval_rouge.check(case).scores["rouge_l"] == 1.0


def test_other(eval_rouge, eval_case):
    eval_rouge.check(eval_case("Fee?", "nothing", expected_output=("15 USD", "a small fee")))
"""
ROW = {"key": "a", "input": "Fee?", "actual_output": "a small fee", "expected_output": ACCEPTED}


def test_rows_of_data_sets_have_them_in_json_and_csv(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[evaluator.text_matching]\nexpected_output_as_condition = true\n',
    )
    project.write("a_dataset.json", json.dumps({"inputs": [ROW]}))
    project.write(
        "c_dataset.csv",
        "input,actual_output,expected_output,accepted_outputs\n"
        "Fee?,a small fee,15 USD,a small fee\n"
        'Fee?,a small fee,15 USD,"[""15.00"", ""a small fee""]"\n',
    )
    project.run().assert_outcomes(passed=3)


def test_cases_made_in_python_have_them(project: Project) -> None:
    project.write("test_fee.py", TESTS)
    project.run("test_fee.py").assert_outcomes(passed=1, failed=1)


def test_exports_have_all_accepted_answers_or_name_them(project: Project) -> None:
    project.suite({"key": "any", "prompt": "Fee?", "expected_output": ACCEPTED})
    openai_export = project.run_command("export", "openai-evals", "sums_suite.json", "-o", "out.jsonl")
    assert "accepted_outputs" not in openai_export.stdout.str()
    assert json.loads((project.folder / "out.jsonl").read_text())["ideal"] == ACCEPTED
    ragas_export = project.run_command("export", "ragas", "sums_suite.json", "-o", "out2.jsonl")
    ragas_export.stdout.fnmatch_lines(["not exported: accepted_outputs: ragas has no place for it"])


def test_another_accepted_answer_is_a_changed_test(project: Project) -> None:
    case = {"key": "any", "prompt": "Fee?", "expected_output": ACCEPTED, "evaluators": ["rouge"]}
    project.suite(case)
    project.run()
    project.run_command("baseline", "save", "-o", "baseline.jsonl")
    project.suite({**case, "expected_output": ["15 EUR", "a small fee"]})
    result = project.run("--evalstudio-baseline=baseline.jsonl", "-v")
    result.stdout.fnmatch_lines(["*changed test*any*expected output*"])
    project.suite({**case, "expected_output": [*ACCEPTED, "15"]})
    result = project.run("--evalstudio-baseline=baseline.jsonl", "-v")
    result.stdout.fnmatch_lines(["*changed test*any*expected output*"])
