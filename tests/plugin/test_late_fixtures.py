"""Fixtures are there for whoever uses them: tests, conftest files, plugins, and code that asks by name."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.plugin.late_fixtures import NAMES
from support.project import Project
from support.workers import WORKERS

PLUGIN = """
import pytest


@pytest.fixture
def fee_case(eval_case):
    return eval_case("Fee?", actual_output="5 USD", expected_output="5 USD")
"""
TEST = """
def test_fee(fee_case, request):
    assert fee_case.question == "Fee?"
"""


def test_a_fixture_of_a_plugin_may_use_them(project: Project) -> None:
    project.write("bank_plugin.py", PLUGIN)
    project.write("test_fee.py", TEST)
    project.run_process("-p", "bank_plugin", "test_fee.py").assert_outcomes(passed=1)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_test_may_ask_by_name(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "test_fee.py",
        "def test_fee(request):\n"
        "    names = [start + end for start in ['ev'] for end in ('al_case', 'al_rouge')]\n"
        "    case, rouge = map(request.getfixturevalue, names)\n"
        "    rouge.check(case('Fee?', actual_output='5 USD', expected_output='5 USD'))\n",
    )
    project.run_process("test_fee.py", *workers).assert_outcomes(passed=1)
    _, items = project.record()
    assert items["test_fee"]["rows"][0]["outcomes"]["rouge"]["scores"]["rouge_1"] == 1.0


def test_an_evaluator_of_a_conftest_has_one(project: Project) -> None:
    project.write(
        "conftest.py",
        "from dataclasses import dataclass\n"
        "from pytest_evalstudio import Metric, Outcome, evaluator\n"
        "@evaluator('polite', name='Polite', domain='generation', needs=('actual_output',))\n"
        "@dataclass(frozen=True)\n"
        "class Polite:\n"
        "    '''Say please.'''\n"
        "    metrics = (Metric('polite', primary=True),)\n"
        "    def score(self, cases, tools):\n"
        "        return [Outcome.score({'polite': float('please' in x.actual_output)}) for x in cases]\n"
        "def pytest_evalstudio_register(registry):\n"
        "    registry.add_evaluator(Polite)\n",
    )
    project.write(
        "test_polite.py",
        "def test_it(eval_polite, eval_case):\n    eval_polite.check(eval_case('', actual_output='please'))",
    )
    project.run("test_polite.py").assert_outcomes(passed=1)


@pytest.mark.parametrize("option", ["--fixtures", "--fixtures-per-test"])
def test_pytest_describes_them(project: Project, option: str) -> None:
    project.write("test_fee.py", "def test_fee(eval_rouge):\n    pass\n")
    result = project.run(option, "test_fee.py")
    result.stdout.fnmatch_lines(["eval_rouge*"])
    result.stdout.fnmatch_lines(["*`.check(case)` asserts, `.score(case)` returns*"])


def test_all_built_in_evaluators_have_one() -> None:
    assert {f"eval_{id}" for id in Registry().evaluators} <= NAMES


def test_a_fixture_that_nobody_has_is_pytests_error(project: Project) -> None:
    project.write("test_fee.py", "def test_fee(eval_rogue):\n    pass\n")
    result = project.run("test_fee.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'eval_rogue' not found*"])
