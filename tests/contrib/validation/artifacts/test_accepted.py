"""Which answers come into the corpus patch: those that people, or all evaluators, accept; none with personal
data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.contrib.validation.artifacts.accepted import accepted_answers
from pytest_evalstudio.contrib.validation.artifacts.corpus_patch import CorpusEntry
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import LAB
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.scoring.model_provider import ModelProvider


def lab(*rows: dict[str, Any]) -> TestLab:
    result = TestLab.model_validate({"models": [{"key": "m", "name": "m"}]})
    for row in rows:
        result.dataset.add_input(model_key="m", **row)
    return result


def write(work: Any, content: TestLab) -> None:
    content.save(work.folder / LAB)
    evaluate(content, ["text_matching"]).write_record(work.folder)


def varied(key: str, by: str, text: str, answer: str, *, of: str = "fee") -> dict[str, Any]:
    link = {"type": "perturbation_source", "target": of, "target_type": "test_case"}
    categories = ["perturbed", f"perturbed_by:{by}:PerturbationIntensity.LOW"]
    return {
        "key": key,
        "input": text,
        "actual_output": answer,
        "output_condition": '"30"',
        "relationships": [link],
        "categories": categories,
    }


ASKED = {
    "key": "fee",
    "input": "What is the fee?",
    "actual_output": "It is 30 USD.",
    "output_condition": '"30"',
}
ANSWERED = [
    {
        "key": "when",
        "input": "When?",
        "actual_output": "In the first month.",
        "output_condition": '"January"',
    },
    {
        "key": "who",
        "input": "Who is asked?",
        "actual_output": "Write to jane.doe@example.com.",
        "output_condition": '"Jane"',
    },
    {"key": "why", "input": "Why?", "actual_output": "Because.", "output_condition": '"reason"'},
]
VARIED = [
    ASKED,
    varied("typo", "qwerty", "What is the fze?", "I do not know."),
    varied("comma", "comma", "What, is the fee?", "It is 30 USD."),
    varied("opposite", "antonym", "What is the gift?", "There is none."),
    {"key": "bad", "input": "Which bank?", "actual_output": "No idea.", "output_condition": '"Northfold"'},
    varied("bad-typo", "qwerty", "Whzch bank?", "No idea.", of="bad"),
]


@pytest.fixture
def run(tmp_path: Path) -> WorkflowRun:
    @step("automated_evaluation", name="Evaluation", number=4)
    @dataclass(frozen=True)
    class Evaluation:
        """Answers."""

        def run(self, work: Any) -> StepResult:
            write(work, lab(*ANSWERED))
            return StepResult(summary="done")

    @step("human_calibration", name="Calibration", number=5, after=("automated_evaluation",))
    @dataclass(frozen=True)
    class Calibration:
        """Labels."""

        def run(self, work: Any) -> StepResult:
            return StepResult(summary="done", figures={"accepted": ["when", "who"]})

    @step("robustness_input_variations", name="Variations", number=8, after=("automated_evaluation",))
    @dataclass(frozen=True)
    class Variations:
        """Other wordings."""

        def run(self, work: Any) -> StepResult:
            write(work, lab(*VARIED))
            return StepResult(summary="done")

    registry = Registry()
    registry.steps._scanned = True
    for cls in (Evaluation, Calibration, Variations):
        registry.add_step(cls)
    (tmp_path / "text.md").write_text("A text.", encoding="utf-8")
    path = tmp_path / "bank_workflow.json"
    path.write_text(json.dumps({"evalstudio_workflow": {"documents": ["text.md"]}}), encoding="utf-8")
    return WorkflowRun(Workflow(documents=["text.md"]), path, configuration({}, folder=tmp_path), registry)


def go(run: WorkflowRun, *ids: str) -> None:
    for id in ids:
        run.run(
            id,
            provider=ModelProvider(registry=run.registry),
            cache=run.folder / "cache",
            progress=lambda count, total, what: None,
        )


def test_before_any_step_there_is_nothing(run: WorkflowRun) -> None:
    assert accepted_answers(run) == []


def test_what_people_call_good_though_it_fails(run: WorkflowRun) -> None:
    go(run, "automated_evaluation", "human_calibration")
    assert accepted_answers(run) == [
        CorpusEntry(question="When?", answer="In the first month.", why="people call the answer good")
    ], "no address of Jane's"


def test_what_fails_in_other_words_of_the_same_meaning(run: WorkflowRun) -> None:
    go(run, "automated_evaluation", "robustness_input_variations")
    (result,) = accepted_answers(run)
    assert result == CorpusEntry(
        question="What is the fee?",
        answer="It is 30 USD.",
        wordings=("What is the fze?",),
        why="the answer passes all evaluators",
    )


def test_a_step_that_is_outdated_gives_nothing(run: WorkflowRun) -> None:
    go(run, "automated_evaluation", "human_calibration", "automated_evaluation")
    assert accepted_answers(run) == []
