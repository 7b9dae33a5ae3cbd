"""A user's annotated test module, checked by mypy and pyright against the installed package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from pytest_evalstudio import (
    AskedModel, Case, Check, EvalCase, EvalModel, EvalSuite, LlmDataset, Outcome, TestLab, TestSuite
)


def test_answer(eval_rouge: Check, eval_case: EvalCase, eval_model: EvalModel, eval_suite: EvalSuite) -> None:
    model: AskedModel = eval_model("app")
    case: Case = model.ask("What is the fee?", expected_output="5 USD")
    outcome: Outcome = eval_rouge.check(case, threshold=0.5)
    score: float | None = outcome.scores["rouge_l"]
    assert score is not None
    outcomes: list[Outcome] = eval_rouge.score_all([case, eval_case("q", "a", expected_output="a")])
    assert outcomes[0] == outcome
    suite: TestSuite = eval_suite("fees_suite.json")
    assert [case.prompt for _, case in suite.cases()]
    assert eval_suite("fees_suite.json").tests[0].test_cases[0].prompt
    lab: TestLab = eval_suite("fees_lab.json", TestLab)
    assert lab.models and eval_suite("fees_dataset.csv", LlmDataset).inputs
    eval_case("q", "a", context=["c"], categories="fees", conversation=[{"role": "user", "content": "x"}])
"""
WRONG = {
    "check": MODULE.replace("eval_rouge.check(case, ", "eval_rouge.check(3, "),
    "expected_ouput": MODULE.replace('"a", expected_output="a"', '"a", expected_ouput="a"'),
    "exepcted_output": MODULE.replace(
        '"What is the fee?", expected_output', '"What is the fee?", exepcted_output'
    ),
    "TestLab": MODULE.replace('"fees_lab.json", TestLab)', '"fees_lab.json")'),
}
EXAMPLES = Path(__file__).parents[2] / "example_suites"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("mypy", "--strict", "--no-incremental"), marks=pytest.mark.neighbours("mypy")),
        pytest.param(("pyright", "--pythonpath", sys.executable), marks=pytest.mark.neighbours("pyright")),
    ],
    ids=["mypy", "pyright"],
)
def test_a_test_module_type_checks(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "test_right.py").write_text(MODULE)
    for number, text in enumerate(WRONG.values()):
        (tmp_path / f"test_wrong{number}.py").write_text(text)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')

    right = run(tmp_path, *command, "test_right.py")
    wrong = run(tmp_path, *command, *(f"test_wrong{number}.py" for number in range(len(WRONG))))

    assert right.returncode == 0, right.stdout + right.stderr
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    for number, fault in enumerate(WRONG):
        lines = [line for line in wrong.stdout.splitlines() if f"test_wrong{number}.py" in line]
        assert any("error" in line and fault in line for line in lines), wrong.stdout


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)
