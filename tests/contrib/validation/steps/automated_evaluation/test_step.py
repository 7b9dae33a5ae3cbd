"""The evaluation asks no question whose answer a corpus patch has put into the corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.contrib.validation.artifacts.corpus_patch import CorpusEntry, corpus_patch
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.step import AutomatedEvaluation
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from support.workbench import Bench

STEP = "automated_evaluation"
QUESTIONS = ("What is the fee?", "When is it charged?")


def bench(folder: Path, *patched: str) -> Bench:
    entries = [CorpusEntry(question=question, answer="Yes.", why="good") for question in patched]
    patch = corpus_patch("Bank", entries)
    workspace = Bench(folder, {"fees.md": "The fee is 30 USD. It is charged in January.", "patch.md": patch})
    cases = [
        {"key": f"k{number}", "prompt": question, "condition": '"30"'}
        for number, question in enumerate(QUESTIONS)
    ]
    suite = TestSuite.model_validate(
        {"name": "Fees", "tests": [{"documents": [str(folder / "fees.md")], "test_cases": cases}]}
    )
    workspace.of("test_validation").mkdir(parents=True)
    suite.save(workspace.of("test_validation") / "validated_suite.json")
    return workspace


def test_a_question_of_a_patch_is_not_asked(tmp_path: Path) -> None:
    workspace = bench(tmp_path, QUESTIONS[0])
    result = AutomatedEvaluation(evaluators=["text_matching"]).run(workspace.work(STEP, "test_validation"))
    lab = TestLab.load(workspace.of(STEP) / "answers_lab.json")
    assert [row.input for row in lab.dataset.inputs] == [QUESTIONS[1]]
    assert "1 test cases are left out: a corpus patch has their answers" in result.notes


def test_without_a_patch_all_are_asked(tmp_path: Path) -> None:
    workspace = bench(tmp_path, "Who pays?")
    result = AutomatedEvaluation(evaluators=["text_matching"]).run(workspace.work(STEP, "test_validation"))
    assert result.figures.cases == 2
    assert not any("corpus patch" in note for note in result.notes)


def test_a_patch_that_answers_everything_leaves_nothing_to_ask(tmp_path: Path) -> None:
    workspace = bench(tmp_path, *QUESTIONS)
    with pytest.raises(DataError, match=r"contains the answers to all 2 test cases.*raise `count`"):
        AutomatedEvaluation(evaluators=["text_matching"]).run(workspace.work(STEP, "test_validation"))
