"""The step of input variations on a model that is thrown by commas, and on one that flickers."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.steps.automated_evaluation.step import AutomatedEvaluation
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.thresholds import (
    evaluators_and_thresholds,
)
from pytest_evalstudio.contrib.validation.steps.robustness_input_variations.step import (
    RobustnessInputVariations,
)
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.judge_table import JudgeTable
from pytest_evalstudio.formats.options import OptionError
from pytest_evalstudio.formats.suite import TestSuite
from support.toy_models import APP, answered_by
from support.workbench import Bench, configured

STEP = "robustness_input_variations"


def thrown_by_commas(prompt: str) -> str:
    return "I am confused." if "," in prompt else "It is right."


def bench(folder: Path, cases: int = 24) -> Bench:
    workspace = Bench(folder, {"text.txt": "Some text."}, config=APP)
    suite = TestSuite(name="valid")
    test = suite.add_test(["../../text.txt"], key="documents")
    for number in range(cases):
        topic, kind = f"topic:{number % 3}_words", f"generator:{'ab'[number % 2]}"
        test.add_case(
            f"What does the small yellow ledger say of item number {number}?",
            key=f"q{number}",
            categories=[topic, kind],
            condition='"right"',
        )
    workspace.of("test_validation").mkdir(parents=True)
    suite.save(workspace.of("test_validation") / "validated_suite.json")
    return workspace


def run(
    workspace: Bench, say: Callable[[str], str] = thrown_by_commas, **parameters: Any
) -> tuple[StepResult, list[str]]:
    """Return the result of the step, and the questions of the model in it and in the evaluation before it."""
    questions = answered_by(workspace, say)
    evaluated = AutomatedEvaluation(evaluators=["text_matching"]).run(
        workspace.work("automated_evaluation", "test_validation")
    )
    work = workspace.work(STEP, "test_validation", "automated_evaluation")
    work = dataclasses.replace(work, figures={"automated_evaluation": dataclasses.asdict(evaluated.figures)})
    return RobustnessInputVariations(**parameters).run(work), questions


def test_a_model_that_commas_throw(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    step_result, _ = run(workspace, perturbators=["comma:medium", "word_swap:low"], cases=12)
    result = workspace.read(STEP, "flips.json")
    comma, swap = result["by_perturbator"]
    assert (comma["name"], comma["cases"], comma["pass_to_fail"]) == ("comma:MEDIUM", 12, 12)
    assert (swap["name"], swap["cases"], swap["pass_to_fail"]) == ("word_swap:LOW", 12, 0)
    assert (result["copies"]["cases"], result["copies"]["pass_to_fail"]) == (24, 0)
    (problem,) = step_result.problems
    assert problem.attributes["perturbator"] == "comma:MEDIUM"
    assert problem.attributes["model"] == "app"
    assert (
        step_result.summary
        == "12 cases, 24 variations by 2 perturbators: 12 turn from pass to fail; asked again unchanged 0 of"
        " 24 do; beyond chance under comma:MEDIUM"
    )
    assert {path.name for path in workspace.of(STEP).iterdir()} >= {
        "variations_suite.json",
        "answers_lab.json",
        "record.jsonl",
        "flips.json",
        "flips.svg",
    }


def test_originals_come_in_proportion_and_their_answers_from_the_cache(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    _, questions = run(workspace, perturbators=["comma:medium"], cases=12, copies=1)
    suite = TestSuite.load(workspace.of(STEP) / "variations_suite.json")
    originals = [case for _, case in suite.cases() if not case.relationships]
    strata = {(*case.categories,) for case in originals}
    assert len(originals) == 12
    assert all(sum((*case.categories,) == stratum for case in originals) == 2 for stratum in strata)
    assert (workspace.of(STEP) / suite.tests[0].documents[0]).resolve() == tmp_path / "text.txt"
    assert len(questions) == 24 + 12 + 12, "each question once, of the copies and variations as well"


def test_a_model_that_flickers_gives_no_problem(tmp_path: Path) -> None:
    turn = itertools.count()
    result, _ = run(
        bench(tmp_path),
        lambda prompt: "right" if next(turn) % 3 else "wrong",
        perturbators=["comma:medium", "word_swap:low"],
    )
    assert result.problems == ()
    assert "no significant effect (n = " in result.summary


def test_where_no_original_passes_none_can_turn(tmp_path: Path) -> None:
    result, _ = run(bench(tmp_path, 6), lambda prompt: "I do not know.", perturbators=["comma:medium"])
    assert result.summary.endswith("no original passes, so that none could turn")


def test_a_dead_line_is_waited_for(tmp_path: Path) -> None:
    workspace = bench(tmp_path, 6)

    def say(prompt: str) -> str:
        if "," in prompt:
            raise HostFault("the line is dead")
        return "It is right."

    result, _ = run(workspace, say, perturbators=["comma:medium"])
    assert result.waits.startswith("6 of 24 questions have no answer (")


def test_two_runs_write_the_same(tmp_path: Path) -> None:
    workspaces = [bench(tmp_path / str(number)) for number in range(2)]
    first_files, second_files = ((run(each), each.files(STEP))[1] for each in workspaces)
    assert {name: first_files[name] for name in ("flips.json", "flips.svg", "variations_suite.json")} == {
        name: second_files[name] for name in ("flips.json", "flips.svg", "variations_suite.json")
    }


def test_the_intensity_is_of_those_that_name_none(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    run(workspace, perturbators=["comma:high", "qwerty+word_swap"], intensity="low", copies=0, cases=3)
    result = workspace.read(STEP, "flips.json")
    assert [row["name"] for row in result["by_perturbator"]] == ["comma:HIGH", "qwerty:LOW+word_swap:LOW"]
    assert result["copies"] is None


def test_evaluators_of_its_own(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    run(workspace, perturbators=["comma"], evaluators=["looping_detection"], cases=3)
    metrics = workspace.read(STEP, "flips.json")["by_perturbator"][0]["metrics"]
    assert {name.partition(".")[0] for name in metrics} == {"looping_detection"}


def test_a_judge_may_write_the_variations_and_what_changes_the_meaning_stands_apart(tmp_path: Path) -> None:
    def premise(prompt: str) -> str:
        return json.dumps(
            {"question": f"As everybody knows, ledgers are green. What do they say? {len(prompt)}"}
        )

    workspace = bench(tmp_path)
    workspace.config = workspace.config.model_copy(
        update={"judge": JudgeTable(host="python", target=premise)}
    )
    result, questions = run(
        workspace, perturbators=["contextual_misinformation:by=judge", "word_swap:low"], copies=0, cases=6
    )
    assert any(question.startswith("As everybody knows") for question in questions)
    (changed,) = workspace.read(STEP, "flips.json")["meaning_changed"]
    assert (changed["name"], changed["cases"], changed["pass_to_fail"]) == ("contextual_misinformation", 6, 6)
    assert result.problems == ()


def test_thresholds_that_people_gave_count(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    answered_by(workspace, thrown_by_commas)
    evaluated = AutomatedEvaluation(evaluators=["rouge"], thresholds={"rouge": 0.9}).run(
        workspace.work("automated_evaluation", "test_validation")
    )
    figures = {
        "automated_evaluation": dataclasses.asdict(evaluated.figures),
        "human_calibration": {"thresholds": {"rouge.rouge_l": 0.25, "groundedness.groundedness": 1}},
    }
    evaluators, thresholds, notes = evaluators_and_thresholds(
        dataclasses.replace(workspace.work(STEP), figures=figures), []
    )
    assert (evaluators, thresholds) == (["rouge"], {"rouge.rouge_l": 0.25})
    assert notes == ["thresholds of the human calibration: rouge.rouge_l 0.25"]


def test_questions_that_cannot_be_varied(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no question could be varied: counterfactual skipped 20 cases"):
        run(bench(tmp_path), perturbators=["counterfactual"], copies=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param(
            {"perturbators": ["coma"]},
            "no perturbator named 'coma'. Did you mean 'comma'",
            id="a perturbator",
        ),
        pytest.param(
            {"perturbators": ["copy"]}, "copies are asked for by the parameter `copies`", id="copies"
        ),
        pytest.param(
            {"perturbators": ["comma"], "intensity": "extreme"},
            "perturbator comma: no intensity 'extreme'",
            id="an intensity",
        ),
    ],
)
def test_names_that_nobody_knows(tmp_path: Path, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run(bench(tmp_path), **parameters)


@pytest.mark.parametrize(
    "parameters",
    [{"cases": 0}, {"copies": -1}, {"alpha": 0}, {"intensity": "loud"}, {"perturbators": "comma"}],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(parameters))):
        configured(RobustnessInputVariations, parameters)
