"""Answers of a labelling for people: what was drawn, and what they should read again."""

from __future__ import annotations

from dataclasses import replace

from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation
from pytest_evalstudio.contrib.calibration.labelling.draw import Drawn
from pytest_evalstudio.contrib.calibration.labelling.review import drawn_answers, to_review
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, labelling_of
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.record.score_table import Scores
from pytest_evalstudio.scoring.calibration.file import CalibratedMetric, Calibration, Conformal, Logistic
from support.labelled_answers import candidate

CALIBRATION = Calibration(
    method="logistic",
    metrics=[CalibratedMetric(evaluator="e", metric="m", better="higher")],
    curve=Logistic(intercept=0.0, weights=[1.0], means=[0.5], scales=[0.1], logs=[False]),
    labels=10,
    conformal=Conformal(alpha=0.1, quantile=0.6, labels=10),
)
"""A score of 0.5 has the probability 0.5, and a set with both labels; 0.9 has 0.982."""


def labelling(*ratings: Label) -> Labelling:
    scores = {"sure": (0.9, True), "open": (0.5, True), "wrong": (0.9, True), "split": (0.1, False)}
    cases = tuple(
        replace(candidate(key, "m", place=value), scores={"e.m": value}, verdict=verdict)
        for key, (value, verdict) in scores.items()
    )
    population = AnswerPopulation(scores=Scores(), columns=(), cases=cases, without_score=0)
    draws = [Drawn(at=at, round=at // 2 + 1, part="curve", reason="spread") for at in (2, 3, 0)]
    return labelling_of(population, ratings, draws)


def label(key: str, value: int, rater: str = "al") -> Label:
    return Label(key=key, model_key="m", label=value, rater=rater)


def test_drawn_answers_have_the_labels_of_all_raters() -> None:
    state = labelling(label("wrong", 0, "bo"), label("wrong", 0), label("split", 1), label("split", 0, "bo"))
    rows = list(drawn_answers(state))
    assert [(row["number"], row["key"], row["round"], row["drawn_by"]) for row in rows] == [
        (1, "wrong", 2, "spread"),
        (2, "split", 2, "spread"),
        (3, "sure", 1, "spread"),
    ]
    assert [(row["label"], row["good"], row["labels"]) for row in rows] == [
        (0, False, {"al": 0, "bo": 0}),
        (None, None, {"al": 1, "bo": 0}),
        (None, None, {}),
    ]


def test_uncertain_contradicted_and_divided_answers_are_to_be_read() -> None:
    state = labelling(label("wrong", 0), label("sure", 1), label("split", 1), label("split", 0, "bo"))
    rows = to_review(state, CALIBRATION)
    assert [(row["key"], row["reasons"]) for row in rows] == [
        ("open", ["uncertain"]),
        ("wrong", ["disagreement"]),
        ("split", ["divided"]),
    ]
    assert (rows[0]["probability"], rows[0]["conformal_set"], rows[0]["good"]) == (0.5, [0, 1], None)


def test_without_a_calibration_no_answer_is_uncertain() -> None:
    [row] = to_review(labelling(label("wrong", 0)), None)
    assert (row["key"], row["probability"], row["conformal_set"]) == ("wrong", None, None)


def test_a_labelled_answer_is_not_uncertain() -> None:
    draws = [Drawn(at=1, round=1, part="curve", reason="spread")]
    state = labelling_of(labelling().population, [label("open", 1)], draws)
    assert to_review(state, CALIBRATION) == []
