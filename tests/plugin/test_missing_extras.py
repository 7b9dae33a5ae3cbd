"""A missing package or model is an error of the cases that need it, a missing judge a usage error."""

from __future__ import annotations

import pytest

from support.project import Project
from support.workers import WORKERS

CONFTEST = '''
import importlib.util
from dataclasses import dataclass

from pytest_evalstudio import Metric, Outcome, evaluator

real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "anthropic" else real(name, *more)


@evaluator(
    "needy", name="Needy", domain="generation", needs=("expected_output", "actual_output"),
    requires=("module:no_such_module",), extra="models",
)
@dataclass(frozen=True)
class Needy:
    """Needs a package that does not exist."""

    metrics = (Metric("needy", primary=True),)

    def score(self, cases, tools):
        raise AssertionError("it is asked")


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Needy)
'''
PLAIN = {"key": "plain", "prompt": "2+2?", "condition": '"4"'}
NEEDY = {
    "key": "needy",
    "prompt": "2+2?",
    "condition": '"4"',
    "expected_output": "4",
    "evaluators": ["needy", "text_matching"],
}
FREE = {"key": "free", "prompt": "3+3?", "condition": '"6"', "evaluators": ["needy", "text_matching"]}
REMEDY = "there is no module 'no_such_module': `pip install \"pytest-evalstudio[[]models]\"`"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("conftest.py", CONFTEST)
    return project


@pytest.mark.parametrize("options", WORKERS)
def test_only_the_cases_that_need_it_are_errors(project: Project, options: tuple[str, ...]) -> None:
    project.suite(PLAIN, NEEDY, FREE)
    result = project.run_process("sums_suite.json", *options)
    assert result.ret == 1
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines([f"error: needy: {REMEDY}"])
    _, items = project.record()
    outcomes = {name: item["rows"][0]["outcomes"] for name, item in items.items()}
    assert outcomes["needy[app]"]["needy"]["code"] == "resource_missing"
    assert "status" not in outcomes["needy[app]"]["text_matching"], "a score"
    assert outcomes["free[app]"]["needy"]["code"] == "input_missing", "it does not apply there"


def test_a_model_that_is_missing_is_an_error_of_its_cases(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        (project.folder / "evalstudio.toml").read_text() + '\n[embeddings]\nmodel = "./no-such-folder"\n',
    )
    case = {**NEEDY, "evaluators": ["answer_semantic_similarity"]}
    project.suite(PLAIN, case)
    result = project.run_process("sums_suite.json")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["error: answer_semantic_similarity: embeddings.model = './no-such-folder' is not available: *"]
    )


def test_a_missing_judge_is_a_usage_error_also_beside_a_missing_package(project: Project) -> None:
    project.suite(PLAIN, NEEDY, {**PLAIN, "key": "judged", "evaluators": ["relevance_to_query_judge"]})
    result = project.run_process("sums_suite.json")
    assert result.ret == 4
    text = result.stdout.str() + result.stderr.str()
    assert "evaluator relevance_to_query_judge: " in text
    assert "no_such_module" not in text


def test_an_option_without_a_value_stays_a_usage_error(project: Project) -> None:
    project.suite({**PLAIN, "evaluators": ["custom_judge"]})
    result = project.run_process("sums_suite.json")
    assert result.ret == 4
    assert "needs its option definition" in result.stdout.str() + result.stderr.str()


def test_all_leaves_it_out_and_says_so(project: Project) -> None:
    project.suite(PLAIN, {**NEEDY, "evaluators": None})
    result = project.run_process("sums_suite.json", "--evalstudio-evaluators=all")
    assert "no_such_module" in result.stdout.str()
    _, items = project.record()
    assert "needy" not in items["needy[app]"]["verdicts"]


def test_the_fixture_of_the_evaluator_fails_its_test_alone(project: Project) -> None:
    project.write(
        "test_checks.py",
        "def test_it(eval_needy, eval_case):\n"
        "    eval_needy.check(eval_case('?', '4', expected_output='4'))\n\n\n"
        "def test_other(eval_text_matching, eval_case):\n"
        "    eval_text_matching.check(eval_case('?', '4', condition='\"4\"'))\n",
    )
    result = project.run_process("test_checks.py")
    result.assert_outcomes(passed=1, errors=1)


def test_a_missing_client_of_a_host_is_an_error_of_its_model(project: Project) -> None:
    table = '\n[[model]]\nname = "claude"\nhost = "anthropic_llm"\nllm_model_name = "c"\napi_key = "x"\n'
    project.write("evalstudio.toml", (project.folder / "evalstudio.toml").read_text() + table)
    project.suite(PLAIN)
    result = project.run_process("sums_suite.json")
    result.assert_outcomes(passed=1, errors=1)
    needs = 'needs the anthropic package: pip install "pytest-evalstudio[[]anthropic]"'
    result.stdout.fnmatch_lines([f"*model 'claude': host 'anthropic_llm' {needs}"])
