"""Classification against scikit-learn and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.plugins.evaluator import Aggregates, ModelScore, ScoredRow
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.classification import Classification

Make = Callable[..., Case]


def aggregated(pairs: list[tuple[str, str]], **options: Any) -> ModelScore:
    rows = [
        ScoredRow(key=str(place), expected_output=label, actual_output=answer, scores={})
        for place, (label, answer) in enumerate(pairs)
    ]
    return Classification(**options).aggregate(rows)


def test_figures_by_hand() -> None:
    # a: 2 of 3 right, answered 2 times; b: 1 of 1 right, answered 1 time; one answer is no label
    score = aggregated([("a", "a"), ("a", "a"), ("a", "x"), ("b", "b")])
    assert score.scores["accuracy"] == 3 / 4
    assert score.scores["precision"] == 1.0
    assert score.scores["recall"] == pytest.approx((2 / 3 + 1) / 2)
    assert score.scores["f1"] == pytest.approx((4 / 5 + 1) / 2)
    assert score.table == {"labels": ["a", "b", "x"], "matrix": [[2, 0, 1], [0, 1, 0], [0, 0, 0]]}


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcxy")), min_size=1, max_size=30))
def test_figures_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, answers = zip(*pairs, strict=True)
    labels = sorted(set(truth))
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        truth, answers, labels=labels, average="macro", zero_division=0
    )
    score = aggregated(pairs)
    assert score.scores == pytest.approx(
        {
            "accuracy": metrics.accuracy_score(truth, answers),
            "precision": precision,
            "recall": recall,
            "f1": f1,
        }
    )
    table = metrics.confusion_matrix(truth, answers, labels=score.table["labels"])
    assert score.table["matrix"] == table.tolist()


def test_a_case_has_its_accuracy_alone(case: Make, tools: Tools) -> None:
    right, wrong = Classification().score(
        [case(' "Positive".', expected_output="positive"), case("neutral", expected_output="positive")], tools
    )
    assert dict(right.scores) == {"accuracy": 1.0, "precision": None, "recall": None, "f1": None}
    assert wrong.scores["accuracy"] == 0.0
    assert wrong.reason == "answered 'neutral', expected 'positive'"


def test_without_normalisation_every_character_counts(case: Make, tools: Tools) -> None:
    (outcome,) = Classification(normalize=False).score([case("Positive", expected_output="positive")], tools)
    assert outcome.scores["accuracy"] == 0.0
    assert aggregated([("a", "A")], normalize=False).table["labels"] == ["a", "A"]


def test_nothing_to_aggregate_has_no_figures() -> None:
    assert dict(Classification().aggregate([]).scores) == {}
    assert isinstance(Classification(), Aggregates)


def test_the_positive_label_has_figures_of_its_own_beside_the_means() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    pairs = [("yes", "Yes."), ("yes", "no"), ("no", "yes"), ("no", "no"), ("no", "no")]
    score = aggregated(pairs, positive_label="YES")
    truth, answers = [pair[0] for pair in pairs], ["yes", "no", "yes", "no", "no"]
    expected = metrics.precision_recall_fscore_support(truth, answers, labels=["yes"], zero_division=0)
    positive = score.table["positive"]
    assert positive["label"] == "yes"
    assert [positive[key] for key in ("precision", "recall", "f1")] == pytest.approx(
        [float(values[0]) for values in expected[:3]]
    )
    assert score.scores == aggregated(pairs).scores
