"""Aggregates of scored tables can be merged in any order, and their manifest survives writing and reading."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.contrib.tables.scored_record import (
    ErrorExample,
    LabelCount,
    MetricAggregate,
    StratumMoments,
    WorstRow,
    merge,
    worst_rows,
)
from pytest_evalstudio.contrib.tables.sketches import merged_sketch, percentiles, sketch_of

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=30)


def aggregate(values: list[float], weights: list[float], *, first_row: int = 0) -> MetricAggregate:
    """Return the figures of these values, by numpy."""
    data, weight = np.array(values), np.array(weights)
    mean = float(np.average(data, weights=weight)) if values else 0.0
    return MetricAggregate(
        evaluator="rouge",
        metric="rouge1",
        model="m",
        better="higher",
        scored=len(values),
        passed=sum(value >= 0 for value in values),
        failed=sum(value < 0 for value in values),
        errors={"no_answer": 1} if first_row else {},
        error_examples={"no_answer": ErrorExample(first_row, f"row {first_row}")} if first_row else {},
        weight=float(weight.sum()),
        mean=mean,
        m2=float((weight * (data - mean) ** 2).sum()),
        min=min(values, default=None),
        max=max(values, default=None),
        sketch=sketch_of(data),
        labels=(LabelCount("a", "b", len(values)),) if values else (),
        strata=(
            StratumMoments(
                stratum=0,
                n=len(values),
                mean=float(data.mean()),
                m2=float(((data - data.mean()) ** 2).sum()),
                passed=0,
                failed=0,
                sketch=sketch_of(data),
            ),
        )
        if values
        else (),
        worst=worst_rows(tuple(WorstRow(first_row + i, value) for i, value in enumerate(values)), "higher"),
    )


def assert_equal(actual: MetricAggregate, expected: MetricAggregate) -> None:
    """Check that two aggregates are equal up to rounding."""
    for field in ("mean", "m2", "weight"):
        assert math.isclose(getattr(actual, field), getattr(expected, field), rel_tol=1e-9, abs_tol=1e-3), (
            field
        )
    for first, second in zip(actual.strata, expected.strata, strict=True):
        assert math.isclose(first.mean, second.mean, rel_tol=1e-9, abs_tol=1e-6)
        assert math.isclose(first.m2, second.m2, rel_tol=1e-9, abs_tol=1e-3)
        assert percentiles(first.sketch, [0.1, 0.5]) == percentiles(second.sketch, [0.1, 0.5])
    assert percentiles(actual.sketch, [0.1, 0.5]) == percentiles(expected.sketch, [0.1, 0.5])
    rounded = {"mean": 0.0, "m2": 0.0, "weight": 0.0, "sketch": "", "strata": ()}
    assert msgspec.structs.replace(actual, **rounded) == msgspec.structs.replace(expected, **rounded)


@given(VALUES, VALUES, VALUES, st.integers(1, 9))
def test_merging_is_associative_commutative_and_equals_the_whole(
    first: list[float], second: list[float], third: list[float], weight: int
) -> None:
    parts, row = [], 0
    for values, each in ((first, 1.0), (second, float(weight)), (third, 2.5)):
        parts.append((aggregate(values, [each] * len(values), first_row=row), values, [each] * len(values)))
        row += 100
    (a, *_), (b, *_), (c, *_) = parts
    assert_equal(merge(merge(a, b), c), merge(a, merge(b, c)))
    assert_equal(merge(a, b), merge(b, a))
    total = merge(merge(a, b), c)
    expected = aggregate([*first, *second, *third], [w for _, _, weights in parts for w in weights])
    for field in ("mean", "m2", "weight"):
        assert math.isclose(getattr(total, field), getattr(expected, field), rel_tol=1e-6, abs_tol=1e-2)
    assert (total.scored, total.min, total.max) == (expected.scored, expected.min, expected.max)


def test_a_merged_sketch_knows_percentiles_to_two_percent_of_the_ranks() -> None:
    values = np.random.default_rng(1).random(20_000)
    sketch = ""
    for part in np.split(values, 20):
        sketch = merged_sketch(sketch, sketch_of(part))
    for share, value in zip((0.05, 0.5, 0.95), percentiles(sketch, (0.05, 0.5, 0.95)), strict=True):
        assert abs(float((values <= value).mean()) - share) < 0.02


def test_the_first_error_of_each_code_is_kept() -> None:
    parts = [aggregate([1.0], [1.0], first_row=row) for row in (30, 10, 20)]
    other = msgspec.structs.replace(
        parts[0], errors={"judge_failed": 2}, error_examples={"judge_failed": ErrorExample(31, "no reply")}
    )
    merged = merge(merge(parts[0], parts[1]), merge(parts[2], other))
    assert merged.errors == {"no_answer": 3, "judge_failed": 2}
    assert merged.error_examples == {
        "no_answer": ErrorExample(10, "row 10"),
        "judge_failed": ErrorExample(31, "no reply"),
    }


def test_figures_of_different_rows_are_not_merged() -> None:
    first = aggregate([1.0], [1.0])
    with pytest.raises(ValueError, match="different rows"):
        merge(first, msgspec.structs.replace(first, model="n"))


def test_the_worst_rows_are_bounded_and_in_order() -> None:
    rows = tuple(WorstRow(i, float(i % 7)) for i in range(100))
    assert [row.row_id for row in worst_rows(rows, "higher")][:3] == [0, 7, 14]
    assert [row.value for row in worst_rows(rows, "lower")] == [6.0] * 14 + [5.0] * 6
