"""Geometry of radar charts, by hand."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.plots.radar import RADIUS, goodness, radar


def chart(*values, models=1, better="higher"):
    metrics = [Metric(f"m{number}", better=better, threshold=0.5) for number in range(len(values))]
    scores = {metric.key: value for metric, value in zip(metrics, values, strict=True)}
    return radar(metrics, [(f"model {number}", scores) for number in range(models)])


def test_corners_lie_clockwise_from_the_top_as_far_out_as_they_are_good():
    result = chart(1.0, 0.5, 0.25, 0.0)
    assert [(abs(x), y) for x, y in result.shapes[0].corners] == [
        (0, -RADIUS),
        (RADIUS / 2, 0),
        (0, RADIUS / 4),
        (0, 0),
    ]
    assert [spoke.threshold for spoke in result.spokes][1] == (RADIUS / 2, 0)


def test_lower_is_better_means_further_out():
    assert chart(0.0, 1.0, 1.0, 1.0, better="lower").shapes[0].corners[0] == (0.0, -RADIUS)


def test_a_metric_without_a_value_has_no_corner():
    result = chart(1.0, None, 1.0, 1.0)
    assert result.shapes[0].corners[1] is None
    assert result.shapes[0].path.count(",") == 3


def test_one_metric_is_no_radar():
    assert chart(1.0) is None


def test_two_metrics_lie_opposite_each_other():
    corners = chart(1.0, 0.5).shapes[0].corners
    assert [(abs(x), y) for x, y in corners] == [(0.0, -RADIUS), (0.0, RADIUS / 2)]


def test_models_beyond_six_are_counted():
    result = chart(1.0, 1.0, 1.0, 1.0, models=8)
    assert (len(result.shapes), result.left_out) == (6, 2)


@pytest.mark.parametrize(
    ("entry", "value", "expected"),
    [
        (Metric("m", range=(-1.0, 1.0)), 0.0, 0.5),
        (Metric("m", better="lower", range=(1.0, float("inf")), threshold=11.0), 6.0, 0.75),
        (Metric("m", range=(0.0, float("inf"))), 1.0, None),
        (Metric("m"), float("inf"), None),
        (Metric("m"), 7.0, 1.0),
    ],
)
def test_goodness_runs_from_the_worst_value_to_the_best(entry, value, expected):
    assert goodness(entry, value) == expected
