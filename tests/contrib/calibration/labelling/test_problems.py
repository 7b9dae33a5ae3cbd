"""Problems that labels show: each with a labelling that has it, and one that has not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_evalstudio.contrib.calibration.fit.calibrate import calibrate
from pytest_evalstudio.contrib.calibration.fit.results import CalibrationFigures
from pytest_evalstudio.contrib.calibration.labelling.agreement import Agreement, agreement
from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.problems import problems
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, labelling_of
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer
from support.labelled_answers import candidate

AGREED = agreement([])


def labelling(good: int, bad: int, curve: int = 0) -> Labelling:
    """Labels of answers drawn at random, and of `curve` bad ones that were drawn by their scores."""
    cases = tuple(candidate(f"k{number:03}", "m", place=0.0) for number in range(good + bad + curve))
    draws = [
        Drawn(at=at, round=1, part="conformal" if at < good + bad else "curve", reason="random")
        for at in range(len(cases))
    ]
    ratings = [Label(key=case.key, model_key="m", label=int(at < good)) for at, case in enumerate(cases)]
    population = AnswerPopulation(scores=Scores(), columns=(), cases=cases, without_score=0)
    return labelling_of(population, ratings, draws)


@pytest.fixture(scope="module")
def figures() -> CalibrationFigures:
    """Of 60 answers whose labels follow from their scores, apart from every fifth."""
    table = Scores(columns={"e.m": Column(evaluator="e", metric=Metric("m"))})
    labels = {}
    for number in range(60):
        key = f"k{number}"
        table.answers["f", key, "m"] = TableAnswer(
            file="f", key=key, model_key="m", test_key="", categories=(), scores={"e.m": {1: number / 60}}
        )
        labels[key, "m"] = int((number >= 30) != (number % 5 == 0))
    return replace(calibrate(table, labels, ["e.m"]).figures, kappa=0.4)


def of(state: Labelling, figures: CalibrationFigures, raters: Agreement = AGREED) -> dict[str, Problem]:
    return {
        problem.attributes["kind"]: problem for problem in problems(state, figures, raters, step="labels")
    }


def test_good_labels_of_raters_who_agree_are_no_problem(figures: CalibrationFigures) -> None:
    assert of(labelling(40, 0), figures) == {}
    agreed = replace(AGREED, krippendorff_alpha=2 / 3)
    assert of(labelling(40, 0), replace(figures, kappa=None), agreed) == {}


def test_bad_answers_are_a_problem_beyond_one_in_twenty(figures: CalibrationFigures) -> None:
    """Wilson's interval of 6 of 40 is 0.071 to 0.291, of 4 of 40 it is 0.040 to 0.231."""
    assert of(labelling(36, 4, curve=20), figures) == {}
    problem = of(labelling(34, 6, curve=20), figures)["bad_answers"]
    assert problem.description == (
        "People call 6 of 40 answers bad that were drawn at random: 7.1 % to 29.1 % of all (95 % interval)"
    )
    assert (problem.severity, problem.problem_type) == ("medium", "accuracy")
    assert problem.attributes["share"] == 0.15
    assert problem.attributes["interval"] == pytest.approx([0.0706, 0.2907], abs=1e-4)
    assert problem.attributes["test_case_keys"] == [f"k{number:03}" for number in range(34, 40)]
    assert of(labelling(20, 20), figures)["bad_answers"].severity == "high"


def test_verdicts_that_agree_little_with_people_are_a_problem(figures: CalibrationFigures) -> None:
    problem = of(labelling(40, 0), replace(figures, kappa=0.39))["weak_evaluator"]
    assert problem.description == (
        "Calibrated verdicts by e.m agree little with people: Cohen's kappa is 0.39 on 60 answers"
    )
    assert (problem.attributes["metrics"], problem.attributes["cases"]) == (["e.m"], 60)


def test_raters_who_agree_little_are_a_problem(figures: CalibrationFigures) -> None:
    divided = replace(AGREED, krippendorff_alpha=0.5, shared=12)
    problem = of(labelling(40, 0), figures, divided)["raters_disagree"]
    assert problem.description == (
        "The people who label agree little: Krippendorff's alpha is 0.5 on 12 answers"
    )
    assert (problem.severity, problem.attributes["cases"]) == ("medium", 12)
