"""Answers that people may label: texts, verdicts and places, and the metrics that can be calibrated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.labelling.cases import (
    AnswerPopulation,
    NothingVaries,
    choose_population,
    population_of,
)
from pytest_evalstudio.formats.labels import answer_id
from support.labelled_answers import record_of
from support.records import RecordBuilder, boolean_evaluator, evaluator, metric, score


def population(record: Path, *metrics: str, order: tuple[str, ...] = ()) -> AnswerPopulation:
    return choose_population(record, read_scores([record]), metrics, order)


def two_metrics(folder: Path, *values: tuple[float | None, float], **metrics: dict[str, Any]) -> Path:
    """The record of answers with scores by `first.a` and `second.b`."""
    builder = RecordBuilder(
        evaluator("first", metric("a", **metrics.get("a", {}))),
        evaluator("second", metric("b", **metrics.get("b", {}))),
    )
    for number, (first, second) in enumerate(values):
        outcomes = {"first": score(first, "a"), "second": score(second, "b")}
        builder.add(f"k{number}", "one", {"outcomes": outcomes, "actual_output": "Yes."})
    folder.mkdir(parents=True, exist_ok=True)
    return builder.write(folder)


def test_a_case_has_the_texts_of_its_answer(tmp_path: Path) -> None:
    result = population(record_of(tmp_path, [0.3, None, 0.9]), "quality.quality")
    assert result.without_score == 1
    assert result.indices == {("k000", "m-one"): 0, ("k002", "m-one"): 1}
    assert result.values([1, 0]).tolist() == [[0.9], [0.3]]
    first, second = result.cases
    assert second.as_json() == {
        "key": "k002",
        "model_key": "m-one",
        "model": "one",
        "question": "What does service 2 cost?",
        "answer": "It costs £2.",
        "expected_answer": "£2.00",
        "context": [{"source": "fees.md", "text": "Service 2 costs £2."}],
        "topic": "2",
        "categories": ["topic:2", "generator:simple_factual"],
        "scores": {"quality.quality": 0.9},
        "verdict": True,
        "answer_id": answer_id("It costs £2."),
    }
    assert (first.verdict, first.place) == (False, 0.3)


def test_the_first_metric_that_varies_and_says_how_much_is_calibrated(tmp_path: Path) -> None:
    """`length` is the first evaluator, and its scores do not vary; `text_matching` only passes or fails."""
    result = population(record_of(tmp_path, [0.3, 0.9]), order=("text_matching", "unknown"))
    assert [column.key for column in result.columns] == ["quality.quality"]
    assert result.primaries == ("quality.quality",)
    assert result.chosen_by.startswith("the primary metric of ")
    assert result.chosen_by.endswith(", the first evaluator whose scores say how much")
    assert population(record_of(tmp_path, [0.3, 0.9]), "quality.quality").chosen_by == ""


def test_the_order_of_evaluators_decides_which_metric_is_calibrated(tmp_path: Path) -> None:
    record = two_metrics(tmp_path, (0.1, 0.2), (0.3, 0.4))
    assert population(record).primaries == ("first.a", "second.b")
    assert [column.key for column in population(record).columns] == ["first.a"]
    assert population(record, order=("second",)).primaries == ("second.b", "first.a")


def test_scores_that_do_not_vary_cannot_be_calibrated(tmp_path: Path) -> None:
    with pytest.raises(NothingVaries, match="no evaluator with graded scores that vary"):
        population(record_of(tmp_path, [0.5, 0.5]))
    builder = RecordBuilder(boolean_evaluator())
    for key, value in (("a", 0.0), ("b", 1.0)):
        builder.add(key, "one", {"outcomes": {"text_matching": score(value, "model_passes")}})
    with pytest.raises(NothingVaries):
        population(builder.write(tmp_path))


def test_places_of_several_metrics_are_mean_ranks_of_better_scores(tmp_path: Path) -> None:
    """Ranks of a are 0.5, 2 and 2 of 3; b is better where it is lower: 2.5, 1.5 and 0.5 of 3."""
    record = two_metrics(tmp_path, (0.1, 0.0), (0.5, 0.2), (0.5, 0.9), b={"better": "lower"})
    result = population(record, "first.a", "second.b")
    assert [case.place for case in result.cases] == pytest.approx([3 / 6, 3.5 / 6, 2.5 / 6])


def test_the_place_of_a_count_is_its_logarithm(tmp_path: Path) -> None:
    record = two_metrics(tmp_path, (0.0, 0.1), (99.0, 0.2), a={"range": [0.0, "Infinity"]})
    assert [case.place for case in population(record, "a").cases] == pytest.approx([0.0, math.log(100)])


def test_a_case_passes_if_all_calibrated_metrics_with_a_threshold_do(tmp_path: Path) -> None:
    values = ((0.9, 0.9), (0.9, 0.1), (0.1, 0.9))
    record = two_metrics(tmp_path / "both", *values, a={"threshold": 0.5}, b={"threshold": 0.5})
    assert [case.verdict for case in population(record, "a", "b").cases] == [True, False, False]
    record = two_metrics(tmp_path / "one", *values, a={"threshold": 0.5}, b={"threshold": "Infinity"})
    assert [case.verdict for case in population(record, "a", "b").cases] == [True, True, False]
    assert [case.verdict for case in population(record, "b").cases] == [None, None, None]


def test_items_without_an_answer_have_no_score(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("first", metric("a")))
    builder.add("k", "one", {"outcomes": {"first": score(0.5, "a")}})
    builder.add("none", "one")
    record = builder.write(tmp_path)
    scores = read_scores([record])
    result = population_of(record, scores, [scores.column("a")])
    assert ([case.key for case in result.cases], result.without_score) == (["k"], 1)
