"""A value that cannot be true costs its own item, never the report."""

from __future__ import annotations

import json

import pytest

from support.project import Project

GOOD = {"key": "good", "input": "2+2?", "output_condition": '"4"', "actual_output": "4"}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "run",
            "9223372036854775808",
            "/dataset/inputs/1/run: input should be less than or equal to 1000000",
        ),
        ("run", "0", "/dataset/inputs/1/run: input should be greater than or equal to 1"),
        ("run", '"many"', '/dataset/inputs/1/run: expected a whole number, found the string "many"'),
        ("usage", '{"input_tokens": 1' + "0" * 400 + "}", "/dataset/inputs/1/usage/input_tokens: *"),
        (
            "usage",
            '{"input_tokens": -1}',
            "/dataset/inputs/1/usage/input_tokens: input should be greater than or equal to 0",
        ),
        ("usage", '{"input_tokens": "x"}', "/dataset/inputs/1/usage/input_tokens: expected a whole number"),
        (
            "actual_duration",
            "1e308",
            "/dataset/inputs/1/actual_duration: input should be less than or equal to 1000000000",
        ),
        (
            "actual_duration",
            "-5",
            "/dataset/inputs/1/actual_duration: input should be greater than or equal to 0",
        ),
        ("actual_duration", '"NaN"', "/dataset/inputs/1/actual_duration: *"),
        ("actual_duration", "1" + "0" * 400, "/dataset/inputs/1/actual_duration: *"),
        ("cost", "1e308", "/dataset/inputs/1/cost: input should be less than or equal to 1000000000"),
        ("cost", '"inf"', "/dataset/inputs/1/cost: expected a finite number"),
        ("cost", "1" + "0" * 400, "/dataset/inputs/1/cost: *"),
        ("context_scores", "[1e999]", "/dataset/inputs/1/context_scores/0: expected a finite number"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_absurd_number_in_a_file_is_a_data_error_of_its_row(
    project: Project, field: str, value: str, message: str
) -> None:
    lab = json.loads(project.lab(GOOD).read_text())
    lab["dataset"]["inputs"].append(
        {"key": "absurd", "model_key": "m", "input": "q", "actual_output": "4", field: "VALUE"}
    )
    project.write("answers_lab.json", json.dumps(lab).replace('"VALUE"', value))

    result = project.run("answers_lab.json")

    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    result.stdout.fnmatch_lines([f"*answers_lab.json*{message}*"])
    result.assert_outcomes(passed=1, errors=1)
    assert (project.folder / "evalstudio-report" / "evalstudio-report.zip").is_file()


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        (
            "usage={'input_tokens': 10**400}",
            "with a wrong field: usage?'input_tokens'?: expected a number of at most",
        ),
        ("usage={'input_tokens': -1}", "whose usage?'input_tokens'? must be a whole number"),
        ("usage={'input_tokens': '7'}", "with a wrong field: usage?'input_tokens'?: expected a whole number"),
        ("cost_usd=1e308", "whose cost_usd must be a number"),
        ("cost_usd=float('nan')", "whose cost_usd must be a number"),
        ("cost_usd='1'", "with a wrong field: cost_usd: expected a number, found str"),
        ("duration_s=-1.0", "whose duration_s must be a number"),
        ("duration_s=float('inf')", "whose duration_s must be a number"),
        ("duration_s=10**400", "with a wrong field: duration_s: expected a number of at most 64 bits"),
        ("first_token_s=float('nan')", "whose first_token_s must be a number"),
        ("context=('a',), context_scores=(float('nan'),)", "whose context_scores?0? must be a finite number"),
        ("context=('a',), context_scores=('1',)", "with a wrong field: context_scores?0?: expected a number"),
    ],
)
def test_an_absurd_number_of_a_host_is_an_error_of_its_item(project: Project, fields: str, fact: str) -> None:
    project.write(
        "app.py",
        "from pytest_evalstudio.core.cases import Answer\ndef ask(prompt):\n    return Answer(text='4',"
        f" {fields}) if 'absurd' in prompt else '4'\n",
    )
    project.suite(
        {"key": "good", "prompt": "2+2?", "condition": '"4"'},
        {"key": "absurd", "prompt": "absurd", "condition": '"4"'},
    )

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"*gave an Answer {fact}*"])
    assert (project.folder / "evalstudio-report" / "evalstudio-report.zip").is_file()


def test_an_absurd_number_in_a_python_test_fails_that_test(project: Project) -> None:
    project.write(
        "test_answers.py",
        "def test_absurd(eval_case, eval_text_matching):\n    eval_case('2+2?', '4', context=['4'],"
        " context_scores=[float('nan')])\n\n\ndef test_good(eval_case, eval_text_matching):\n"
        "    eval_text_matching.check(eval_case('2+2?', '4', condition='\"4\"', context_scores=[0.5]))\n",
    )

    result = project.run("test_answers.py")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*eval_case: context_scores?0? must be a finite number*"])
    assert (project.folder / "evalstudio-report" / "evalstudio-report.zip").is_file()


def test_large_numbers_in_a_models_description_do_no_harm(project: Project) -> None:
    lab = json.loads(project.lab(GOOD).read_text())
    lab["models"][0]["llm_model_meta"] = {"success_count": "VALUE", "duration_stats": {"max": 1e308}}
    lab["models"][0]["model_cfg"] = {"seed": "VALUE"}
    project.write("answers_lab.json", json.dumps(lab).replace('"VALUE"', "1" + "0" * 400))

    result = project.run("answers_lab.json")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*warning*")
    assert (project.folder / "evalstudio-report" / "interpretation.html").is_file()
