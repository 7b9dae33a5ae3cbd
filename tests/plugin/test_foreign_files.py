"""Files of others in the folders that pytest walks."""

from __future__ import annotations

import json

import pytest

from support.project import Project

SMOKE = "tests:\n  - name: login\n    steps: [open, click]\n"
TRAINING = json.dumps({"inputs": [[0.1, 0.2], [0.3, 0.4]], "labels": [0, 1]})
FOREIGN = {
    "smoke_suite.yaml": SMOKE,
    "train_dataset.json": TRAINING,
    "rows_dataset.json": json.dumps([{"actual_output": "x"}]),
    "ml_lab.json": json.dumps({"dataset": "mnist", "models": ["resnet"]}),
    "jsonc_suite.json": '{// settings\n "tests": [{"test_cases": []}]}',
    "numbers_dataset.csv": "a,b\n1,2\n",
}


@pytest.fixture
def unconfigured(project: Project) -> Project:
    (project.folder / "evalstudio.toml").unlink()
    project.write("test_plain.py", "def test_plain():\n    pass\n")
    return project


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_changes_nothing_in_a_plain_run(unconfigured: Project, name: str) -> None:
    unconfigured.write(name, FOREIGN[name])

    result = unconfigured.run_inside("-W", "error")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1)
    assert "evalstudio:" not in result.stdout.str()


def test_near_misses_are_named_on_one_line_under_v(unconfigured: Project) -> None:
    for name, text in FOREIGN.items():
        unconfigured.write(name, text)

    result = unconfigured.run_inside("-v")

    result.assert_outcomes(passed=1)
    lines = [line for line in result.outlines if "left alone" in line]
    assert len(lines) == 1
    assert "smoke_suite.yaml (`tests` without `test_cases`)" in lines[0]
    assert "train_dataset.json (`inputs` without `actual_output`)" in lines[0]


def test_a_near_miss_below_a_configuration_is_a_visible_warning(project: Project) -> None:
    project.write("smoke_suite.yaml", SMOKE)
    project.write("test_plain.py", "def test_plain():\n    pass\n")

    result = project.run()

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*smoke_suite.yaml: not collected: `tests` without `test_cases`*"])


def test_a_suite_that_nobody_named_and_no_model_answers_is_no_usage_error(unconfigured: Project) -> None:
    unconfigured.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    result = unconfigured.run()

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*sums_suite.json: not collected: *no model is configured*"])
    assert unconfigured.run("sums_suite.json").ret == pytest.ExitCode.USAGE_ERROR


def test_below_a_configuration_such_a_suite_is_a_collection_error(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    result = project.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*sums_suite.json: no model is configured*"])


def test_a_data_set_without_answers_is_ours_if_it_names_our_schema(unconfigured: Project) -> None:
    rows = [{"key": "q", "input": "2+2?", "error": "no connection"}]
    unconfigured.write("a_dataset.json", json.dumps({"inputs": rows}))
    unconfigured.write(
        "b_dataset.json", json.dumps({"$schema": "schemas/dataset.schema.json", "inputs": rows})
    )

    result = unconfigured.run("--co", "-q")

    result.stdout.fnmatch_lines(["b_dataset.json::q*"])
    assert "a_dataset" not in result.stdout.str()
