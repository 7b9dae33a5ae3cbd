"""Items in columns: what the page lists, counts and finds lowest."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.report.data.columns import BROKEN, FLIPPED, MISSED, STATES, Columns
from support.records import RecordBuilder, evaluator, flip, metric, perturbed, score


def columns_of(builder):
    result = Columns(builder.run, builder.run.evaluators)
    for item in builder.typed_items:
        result.add(item)
    return result


def test_each_outcome_has_its_state_and_flag():
    builder = RecordBuilder()
    builder.add("good", "one", {"outcomes": {"quality": score(0.9)}})
    builder.add("bad", "one", {"outcomes": {"quality": score(0.1)}})
    builder.add("broken", "one", {"outcomes": {"quality": {"status": "error", "reason": "x"}}})
    builder.add("other", "one", {"outcomes": {"quality": {"status": "not_applicable", "reason": "x"}}})
    builder.add(
        "flipped",
        "one",
        {"outcomes": {"quality": score(0.9)}, **perturbed("good", "comma:LOW")},
        flips=[flip("good")],
    )
    unjudged = {"status": "score", "passed": None, "scores": {"score": 0.3}, "missed": []}
    builder.add("unjudged", "one", {"outcomes": {"quality": score(0.3)}}, verdicts={"quality": unjudged})
    result = columns_of(builder)
    assert [STATES[state] for state in result.judgements["quality"].states] == [
        "passed",
        "failed",
        "error",
        "not_applicable",
        "passed",
        "scored",
    ]
    assert list(result.flags) == [0, MISSED, BROKEN, 0, FLIPPED, 0]
    assert [result.notable(place) for place in range(6)] == [False, True, True, False, True, False]
    assert [result.nodeid(place) for place in result.failed()] == [
        "suite.json::bad[one]",
        "suite.json::broken[one]",
    ]


def test_ids_that_cannot_be_guessed_are_kept():
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {}})
    builder.add("a", "one", {"outcomes": {}}, nodeid="test_x.py::test_y[1]")
    result = columns_of(builder)
    assert result.nodeids == {1: "test_x.py::test_y[1]"}
    assert [result.nodeid(place) for place in (0, 1)] == ["suite.json::a[one]", "test_x.py::test_y[1]"]
    assert len(result.cases) == 1


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(10, [0, 1, 2, 3, 4, 5]), (4, [0, 1, 3, 5]), (3, [0, 3, 5]), (2, [3, 5]), (1, [3])],
)
def test_passing_items_are_left_out_first_the_last_of_them_before_others(limit, expected):
    builder = RecordBuilder()
    for number in range(6):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(0.1 if number in (3, 5) else 0.9)}})
    assert list(columns_of(builder).selection(limit)) == expected


def test_the_lowest_scores_are_held_against_the_thresholds_of_their_cases():
    lower = metric("edits", better="lower", threshold=2.0, range=[0.0, "Infinity"])
    builder = RecordBuilder(evaluator("steps", lower))
    for key, value in (("a", 1.0), ("b", 5.0), ("c", 3.0), ("d", 5.0)):
        verdict = {
            "status": "score",
            "passed": True,
            "scores": {"edits": value},
            "missed": [],
            "thresholds": {"edits": 9.0} if key == "b" else {},
        }
        builder.add(key, "one", {"outcomes": {"steps": score(value, "edits")}}, verdicts={"steps": verdict})
    info = builder.run.evaluators["steps"]
    assert columns_of(builder).lowest(info, 0, 3) == [(1, 5.0, 9.0), (3, 5.0, 2.0), (2, 3.0, 2.0)]


def test_a_metric_without_a_value_is_no_number():
    builder = RecordBuilder(evaluator("quality", metric("score"), metric("other", primary=False)))
    builder.add(
        "a", "one", {"outcomes": {"quality": {"status": "score", "scores": {"score": 1, "other": None}}}}
    )
    first, second = columns_of(builder).judgements["quality"].scores
    assert list(first) == [1.0]
    assert np.isnan(second).all()


def test_columns_of_the_data_set_are_counted_over_distinct_cases():
    builder = RecordBuilder(models=("one", "two"))
    for name in ("one", "two"):
        builder.add("a", name, {"input": "Q", "corpus": ["x.md", "y.md"], "categories": ["fees"]})
        builder.add(
            "b",
            name,
            {"input": "Q", "corpus": ["x.md"], "expected_output": "", **perturbed("a", "comma:LOW")},
        )
    parts = {part.name: (part.type, part.filled, part.distinct) for part in columns_of(builder).parts.parts()}
    assert parts == {
        "key": ("text", 2, 2),
        "input": ("text", 2, 1),
        "expected_output": ("text", 1, 1),
        "corpus": ("list", 2, 2),
        "categories": ("list", 2, 3),
        "relationships": ("list", 1, 1),
    }
