"""Settings, keys and files that nothing uses are named; none of them can let a test case pass."""

from __future__ import annotations

import pytest

from support.project import Project
from support.workers import WORKERS

FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
TABLE = '\n[evaluator.rouge]\nthreshold = 0.9\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n'


def test_a_table_of_an_evaluator_that_nothing_uses_is_refused(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]' + TABLE)
    project.suite(FOUR)

    result = project.run("sums_suite.json")
    validated = project.run_command("validate", "evalstudio.toml")

    assert (result.ret, validated.ret) == (4, 1)
    message = "*evaluator.rouge: the table has no effect, since no run, test case or test uses rouge; add it*"
    result.stderr.fnmatch_lines([message])
    validated.stdout.fnmatch_lines([message])


@pytest.mark.parametrize("workers", WORKERS)
def test_the_command_line_may_choose_other_evaluators(project: Project, workers: tuple[str, ...]) -> None:
    project.write("evalstudio.toml", 'evaluators = ["rouge"]' + TABLE)
    project.suite({**FOUR, "expected_output": "It is 4."})

    project.run("sums_suite.json", "--evalstudio-evaluators=text_matching", *workers).assert_outcomes(
        passed=1
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other_suite.json", '{"tests": [{"test_cases": [{"prompt": "x", "evaluators": ["rouge"]}]}]}'),
        ("test_python.py", "def test_a(eval_rouge): pass"),
        ("bank_workflow.json", '{"evaluators": ["rouge"]}'),
    ],
)
def test_a_table_may_serve_files_that_are_not_part_of_the_run(project: Project, name: str, text: str) -> None:
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]' + TABLE)
    project.write(f"more/{name}", text)
    project.suite(FOUR)

    project.run("sums_suite.json").assert_outcomes(passed=1)


def test_a_suite_whose_name_is_not_collected_is_named(project: Project) -> None:
    project.suite(FOUR, name="fees.json")

    result = project.run()

    assert result.ret == 5
    result.stdout.fnmatch_lines(
        ["*fees.json: not collected: its name matches none of*e.g. to fees_suite.json*"]
    )
    project.run("fees.json").assert_outcomes(passed=1)


def test_other_json_files_beside_a_configuration_are_not_named(project: Project) -> None:
    project.suite(FOUR)
    project.write("package.json", '{"name": "shop", "tests": "none"}')
    project.write("data.json", '{"inputs": 3}')
    project.run().assert_outcomes(passed=1)

    result = project.run()  # a report is there now

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*not collected*")


@pytest.mark.parametrize(
    ("key", "proposal"),
    [
        ("must_contain", "did you mean 'condition'?"),
        ("assert", "did you mean 'condition'?"),
        ("criteria", "did you mean 'guidelines'?"),
        ("threshold", "did you mean 'evaluators'?"),
        ("expectedOutput", "did you mean 'expected_output'?"),
        ("flavour", "nothing would read it."),
    ],
)
def test_an_unknown_key_of_a_case_is_an_error(project: Project, key: str, proposal: str) -> None:
    project.suite({"prompt": "2+2?", key: "4"}, FOUR)

    result = project.run("sums_suite.json")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"*/{key}: {key!r} is not a key of a test case; {proposal}*'x-'*metadata*"])


def test_keys_of_the_user_are_free(project: Project) -> None:
    project.suite({**FOUR, "x-ticket": "FEE-7", "metadata": {"owner": "payments"}})

    project.run("sums_suite.json").assert_outcomes(passed=1)


def test_unknown_keys_of_rows_are_named_once(project: Project) -> None:
    row = {"input": "Fee?", "actual_output": "5", "output_condition": '"5"', "must_contain": "5"}
    project.lab({"key": "a", **row}, {"key": "b", **row, "x-mine": 1})

    result = project.run("answers_lab.json")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*nothing reads the keys 'must_contain' (2 rows, did you mean*"])
    assert result.stdout.str().count("nothing reads") == 1


def test_a_configuration_may_begin_with_a_byte_order_mark(project: Project) -> None:
    text = (project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    project.write("evalstudio.toml", text.encode("utf-8-sig"))
    project.suite(FOUR)

    project.run("sums_suite.json").assert_outcomes(passed=1)


def test_the_fixture_of_suites_takes_paths(project: Project) -> None:
    project.suite(FOUR)
    project.write(
        "test_python.py",
        "from pathlib import Path\n\n"
        "def test_a(eval_suite):\n    assert len(eval_suite(Path('sums_suite.json')).cases()) == 1\n",
    )

    project.run("test_python.py").assert_outcomes(passed=1)
