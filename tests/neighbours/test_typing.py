"""A user's annotated test module, checked by mypy and pyright against the installed package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from pytest_evalstudio import AskedModel, Case, Check, EvalCase, EvalModel, EvalSuite, Outcome, TestSuite


def test_answer(eval_rouge: Check, eval_case: EvalCase, eval_model: EvalModel, eval_suite: EvalSuite) -> None:
    model: AskedModel = eval_model("app")
    case: Case = model.ask("What is the fee?", expected_output="5 USD")
    outcome: Outcome = eval_rouge.check(case, threshold=0.5)
    score: float | None = outcome.scores["rouge_l"]
    assert score is not None
    outcomes: list[Outcome] = eval_rouge.score_all([case, eval_case("q", "a", expected_output="a")])
    assert outcomes[0] == outcome
    suite = eval_suite("fees_suite.json")
    assert isinstance(suite, TestSuite)
    assert suite.tests[0].test_cases[0].prompt
"""
WRONG = MODULE.replace("eval_rouge.check(case, ", "eval_rouge.check(3, ")


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
    (tmp_path / "test_wrong.py").write_text(WRONG)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')

    right = run(tmp_path, *command, "test_right.py")
    wrong = run(tmp_path, *command, "test_wrong.py")

    assert right.returncode == 0, right.stdout + right.stderr
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert '"check"' in wrong.stdout


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)
