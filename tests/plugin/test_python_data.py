"""Tests in Python with data in Python: parameters, dataclasses, frames, assertions, a configuration."""

from __future__ import annotations

import pytest

from support.project import APP, CONFIG, Project

SUITE = """name: Sums
tests:
  - test_cases:
      - {key: four, prompt: 2+2?, condition: '"4"'}
      - {key: wrong one, prompt: 3+3?, expected_output: It is 7., condition: '"7"'}
      - {key: known, prompt: 3+3?, condition: '"8"', xfail: the model cannot add}
      - {key: later, prompt: 5+5?, condition: '"10"', skip: not learnt yet}
"""
LAB = [
    {"key": "q", "input": "2+2?", "actual_output": "4", "output_condition": '"4"', "model_key": "m"},
    {"key": "q", "input": "2+2?", "actual_output": "5", "output_condition": '"4"', "model_key": "n"},
]
CONFTEST = """
from app import ask


def pytest_evalstudio_configuration():
    return {
        "evaluators": ["text_matching"],
        "model": [{"name": "app", "host": "python", "target": ask}],
    }
"""


def test_a_suite_is_parametrized(project: Project) -> None:
    project.write("data/sums.yaml", SUITE)
    project.write(
        "tests/test_sums.py",
        """
import pytest
from pytest_evalstudio import eval_suite


@pytest.mark.parametrize("case", eval_suite("../data/sums.yaml"))
def test_sum(case, eval_model, eval_text_matching):
    eval_text_matching.check(eval_model("app").ask(case))
""",
    )

    result = project.run("-v", "tests")

    result.assert_outcomes(passed=1, failed=1, xfailed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["*::test_sum[[]four] PASSED*", "*::test_sum[[]wrong one] FAILED*", 'E *lacks "7"*', "E *It is 7.*"]
    )
    project.run("tests/test_sums.py::test_sum[wrong one]").assert_outcomes(failed=1)


def test_the_rows_of_a_lab_have_their_answers_and_models(project: Project) -> None:
    project.lab(*LAB, name="answers.json")
    project.write(
        "test_lab.py",
        """
import pytest
from pytest_evalstudio import eval_suite


@pytest.mark.parametrize("case", eval_suite("answers.json"))
def test_row(case, eval_text_matching):
    eval_text_matching.check(case)
""",
    )

    result = project.run("-v", "test_lab.py")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*::test_row[[]q[[]m]] PASSED*", "*::test_row[[]q[[]n]] FAILED*"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "*sums.yaml: cannot be read*"),
        (SUITE.replace("condition: '\"4\"'", "conditon: x"), "*sums.yaml*did you mean 'condition'?*"),
    ],
)
def test_a_wrong_suite_is_an_error_of_the_collection(
    project: Project, text: str | None, message: str
) -> None:
    if text is not None:
        project.write("sums.yaml", text)
    project.write("test_sums.py", 'from pytest_evalstudio import eval_suite\n\neval_suite("sums.yaml")\n')

    result = project.run("test_sums.py")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"E *DataError: {message}"])
    assert "suite_parameters.py" not in result.stdout.str()


def test_cases_are_dataclasses(project: Project) -> None:
    project.write(
        "test_sums.py",
        """
from dataclasses import dataclass, field

import pytest


@dataclass
class Sum:
    key: str
    prompt: str
    condition: str
    expected_output: str | None = None
    extra: dict = field(default_factory=dict)


@dataclass
class Answered(Sum):
    actual_output: str = ""


SUMS = [Sum("four", "2+2?", '"4"', extra={"level": 1}), Sum("seven", "3+3?", '"7"')]


@pytest.mark.parametrize("sum", SUMS, ids=lambda sum: sum.key)
def test_asked(sum, eval_model, eval_text_matching):
    case = eval_model("app").ask(sum)
    assert (case.key, dict(case.extra)) == (sum.key, sum.extra)
    eval_text_matching.check(case)


def test_several(eval_model, eval_text_matching):
    assert [case.actual_output for case in eval_model("app").ask_all(SUMS)] == ["It is 4.", "It is 6."]


def test_answered(eval_text_matching):
    eval_text_matching.check(Answered("four", "2+2?", '"4"', actual_output="It is 4."))
    assert eval_text_matching.score({"input": "2+2?", "actual_output": "4", "condition": '"4"'}).scores
""",
    )

    project.run("test_sums.py").assert_outcomes(passed=3, failed=1)

    record = project.record()[1]
    assert record["test_asked[seven]"]["verdict"] == "failed"
    assert record["test_asked[seven]"]["rows"][0]["input"] == "3+3?"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            "question: str = '2+2?'; conditon: str = 'x'",
            "Sum: a case has no field 'conditon'. Did you mean 'condition'?",
        ),
        (
            "question: str = '2+2?'; level: int = 3",
            "Sum: a case has no field 'level'. Put data of your own below `extra`.",
        ),
        ("key: str = 'k'", "Sum: has no question; give one field question, prompt or input"),
        (
            "prompt: str = 'a'; input: str = 'b'",
            "Sum: has several questions; give one field question, prompt or input",
        ),
    ],
)
@pytest.mark.parametrize("call", ["eval_text_matching.check(Sum())", "eval_model('app').ask(Sum())"])
def test_a_wrong_field_of_a_dataclass_is_named(
    project: Project, fields: str, message: str, call: str
) -> None:
    project.write(
        "test_sums.py",
        f"""
from dataclasses import dataclass


@dataclass
class Sum:
    {fields}


def test_sum(eval_text_matching, eval_model):
    {call}
""",
    )

    result = project.run("test_sums.py")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"E *ConfigurationError: {message}", "test_sums.py:*"])


def test_a_failing_assertion_on_a_score_has_answer_and_reason(project: Project) -> None:
    project.write(
        "test_scores.py",
        """
import pickle

import pytest


@pytest.fixture
def seven(eval_model):
    expected = "It is seven, mail jane.doe@example.com."
    return eval_model("app").ask("3+3?", expected_output=expected, condition='"7"')


def test_one_side(seven, eval_text_matching):
    assert eval_text_matching.score(seven).scores["model_passes"] == 1


def test_other_side(seven, eval_rouge):
    assert 0.9 <= eval_rouge.score(seven).scores["rouge_l"]


def test_not_applicable(eval_rouge, eval_case):
    assert eval_rouge.score(eval_case("2+2?", "4")).scores["rouge_l"] > 0.5


def test_misspelt(seven, eval_rouge):
    assert eval_rouge.score(seven).scores["rouge_k"] > 0.5


def test_it_is_a_number(seven, eval_rouge):
    score = eval_rouge.score(seven).scores["rouge_l"]
    assert score == pytest.approx(4 / 9, abs=0.2)
    assert type(score + 1) is float
    assert f"{score:.1f}" == f"{float(score):.1f}"
    assert pickle.loads(pickle.dumps(score)) == score
    assert eval_rouge.score(seven) == eval_rouge.check(seven, threshold=0)
""",
    )

    result = project.run("test_scores.py")

    result.assert_outcomes(passed=1, failed=4)
    result.stdout.fnmatch_lines(
        [
            "E *assert text_matching.model_passes 0 == 1",
            'E *reason: *lacks "7"*',
            "E *question: 3+3?",
            "E *expected: It is seven,*",
            "E *answer:   It is 6.",
            "E *assert 0.9 <= rouge.rouge_l 0.*",
            "E *EvaluationError: rouge has no score: not applicable: no expected output",
            "E *EvaluationError: rouge has no metric 'rouge_k'. Did you mean 'rouge_*'?",
        ]
    )
    lines = [line for line in result.outlines if line.startswith("E ")]
    assert not [line for line in lines if "jane.doe@example.com" in line]


def test_asynchronous_tests_ask_and_check(project: Project) -> None:
    project.write("app.py", f"{APP.replace('def ask', 'async def ask')}")
    project.write(
        "test_async.py",
        """
import asyncio

import pytest


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_sums(eval_model, eval_text_matching):
    model = eval_model("app")
    four, six = await asyncio.gather(
        model.ask_async({"question": "2+2?", "condition": '"4"'}), model.ask_async("3+3?", condition='"7"')
    )
    eval_text_matching.check(four)
    assert eval_text_matching.score(six).scores["model_passes"] == 1
""",
    )
    result = project.run("-p", "anyio", "test_async.py")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *assert text_matching.model_passes 0 == 1", "E *answer:   It is 6."])


def test_a_data_frame_in_and_out(project: Project) -> None:
    pytest.importorskip("pandas")
    project.write(
        "test_frames.py",
        """
import pandas as pd
import pytest

from pytest_evalstudio import LlmDataset, evaluate

QUESTIONS = pd.DataFrame(
    {"key": ["four", "seven"], "question": ["2+2?", "3+3?"], "condition": ['"4"', '"7"']}
)


@pytest.mark.parametrize("row", QUESTIONS.to_dict("records"), ids=QUESTIONS["key"])
def test_row(row, eval_model, eval_text_matching):
    eval_text_matching.check(eval_model("app").ask(row))


def test_frame():
    answers = pd.DataFrame(
        {
            "key": ["a", "b"],
            "input": ["2+2?", "3+3?"],
            "actual_output": ["4", "5"],
            "output_condition": ['"4"', '"6"'],
        }
    )
    results = evaluate(LlmDataset.from_frame(answers), ["text_matching"]).to_frame()
    assert dict(zip(results["key"], results["verdict"])) == {"a": "passed", "b": "failed"}
    assert list(results["text_matching.model_passes"]) == [1.0, 0.0]
""",
    )

    result = project.run("-v", "test_frames.py")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*::test_row[[]seven] FAILED*"])


@pytest.fixture
def without_file(pytester: pytest.Pytester) -> Project:
    project = Project(pytester, with_app=False)
    project.write("app.py", APP)
    return project


def test_a_conftest_of_ten_lines_replaces_the_configuration(without_file: Project) -> None:
    assert len(CONFTEST.strip().splitlines()) <= 10
    without_file.write("conftest.py", CONFTEST)
    without_file.suite(
        {"key": "k", "prompt": "2+2?", "condition": '"4"'}, {"prompt": "3+3?", "condition": '"7"'}
    )
    without_file.write(
        "test_app.py",
        "def test_sum(eval_model, eval_text_matching):\n"
        "    eval_text_matching.check(eval_model('app').ask('2+2?', condition='\"4\"'))\n",
    )

    without_file.run().assert_outcomes(passed=2, failed=1)

    header, items = without_file.record()
    assert list(header["evaluators"]) == ["text_matching"]
    assert sorted(item["verdict"] for item in items.values()) == ["failed", "passed", "passed"]
    without_file.run_process("-n", "2").assert_outcomes(passed=2, failed=1)


def test_the_nearest_configuration_wins(without_file: Project) -> None:
    without_file.write("conftest.py", CONFTEST)
    other = CONFIG.replace('name = "app"', 'name = "of file"').replace("app:ask", "sums:add")
    without_file.write("deep/evalstudio.toml", other)
    without_file.write("deep/sums.py", "def add(prompt):\n    return '4'\n")
    without_file.write("deep/er/conftest.py", CONFTEST.replace('"app", ', '"deeper", '))
    case = {"key": "k", "prompt": "2+2?", "condition": '"4"'}
    for folder in ("", "deep/", "deep/er/"):
        without_file.suite(case, name=f"{folder}sums_suite.json")

    result = without_file.run("--collect-only", "-q")

    nodes = [line for line in result.outlines if "::" in line]
    assert sorted(nodes) == [
        "deep/er/sums_suite.json::k[deeper]",
        "deep/sums_suite.json::k[of_file]",
        "sums_suite.json::k[app]",
    ]


def test_a_plugin_of_the_project_declares_the_configuration(without_file: Project) -> None:
    without_file.write("checks.py", CONFTEST)
    without_file.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})

    without_file.run_process("-p", "checks").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("conftest", "message"),
    [
        (
            CONFTEST.replace('"evaluators"', '"evaluaters"'),
            "*conftest.py: evaluaters: unknown key. Did you mean 'evaluators'?*",
        ),
        (
            "def pytest_evalstudio_configuration():\n    return ['rouge']\n",
            "*conftest.py: pytest_evalstudio_configuration returns list; return a dictionary with the keys of"
            " evalstudio.toml",
        ),
        (
            CONFTEST.replace('"target": ask', '"target": lambda prompt: "4"'),
            "*model 'app': target cannot be imported by its name; define it as a function of a module,"
            ' or write "module:function"',
        ),
    ],
)
def test_what_a_conftest_returns_is_checked(without_file: Project, conftest: str, message: str) -> None:
    without_file.write("conftest.py", conftest)
    without_file.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})

    result = without_file.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line.startswith("ERROR: ")]
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_a_file_beside_the_conftest_is_refused(without_file: Project) -> None:
    without_file.write("conftest.py", CONFTEST)
    without_file.write("evalstudio.toml", CONFIG)
    without_file.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})

    result = without_file.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: *conftest.py: pytest_evalstudio_configuration and evalstudio.toml both configure this"
            " folder; remove one of them"
        ]
    )
