from __future__ import annotations

import math

import pytest

from pytest_evalstudio.core.outcomes import Metric, Outcome


@pytest.mark.parametrize(
    ("better", "value", "passes"),
    [
        ("higher", 0.75, True),
        ("higher", 0.7499, False),
        ("higher", 1.0, True),
        ("lower", 0.75, True),
        ("lower", 0.7501, False),
        ("lower", 0.0, True),
    ],
)
def test_equality_passes_in_both_directions(better, value, passes):
    assert Metric("m", better=better, threshold=0.75).passes(value) is passes


def test_a_threshold_of_the_user_replaces_the_metrics_own():
    metric = Metric("m", threshold=0.75)
    assert metric.passes(0.0, 0.0)
    assert not metric.passes(0.8, 0.9)


def test_the_worst_value_is_the_end_of_the_range_away_from_better():
    assert Metric("m", range=(-1.0, 1.0)).worst == -1.0
    assert Metric("m", better="lower", range=(0.0, math.inf)).worst == math.inf


def test_a_score_that_is_not_a_number_makes_the_outcome_an_error():
    outcome = Outcome.score({"a": 1.0, "b": math.nan}, reason="odd")
    assert (outcome.status, dict(outcome.scores), outcome.reason) == (
        "error",
        {},
        "metric 'b' is not a number",
    )


def test_an_absent_score_and_an_infinite_one_are_scores():
    outcome = Outcome.score({"a": None, "b": math.inf})
    assert (outcome.status, outcome.scores) == ("score", {"a": None, "b": math.inf})


def test_the_other_words_have_a_reason_and_no_scores():
    assert [
        (outcome.status, outcome.reason, dict(outcome.scores))
        for outcome in (Outcome.not_applicable("no context"), Outcome.error("down"))
    ] == [
        ("not_applicable", "no context", {}),
        ("error", "down", {}),
    ]


def test_outcomes_cannot_be_changed():
    with pytest.raises(AttributeError, match="immutable"):
        Outcome.score({}).reason = "x"
    Outcome().scores["a"] = 1.0
    assert Outcome().scores == {}, "defaults are not shared"


def test_a_threshold_at_the_worst_value_cannot_be_missed() -> None:
    assert not Metric("share", threshold=0.0).can_decide
    assert not Metric("share", better="lower", threshold=1.0).can_decide
    assert not Metric("share", threshold=float("-inf")).can_decide
    assert Metric("share", threshold=0.1).can_decide
