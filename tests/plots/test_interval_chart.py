"""Geometry of the chart of means, by hand."""

from __future__ import annotations

import math

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.plots.interval_chart import WIDTH, Mean, interval_chart


def mean(value, interval=None, threshold=0.5):
    return Mean(name="model", value=value, interval=interval, threshold=threshold, passes=None)


def test_values_lie_on_the_metrics_range():
    chart = interval_chart(Metric("m"), [mean(0.25, (0.0, 0.5)), mean(1.0)])
    first, second = chart.lines
    assert (first.low, first.x, first.high, first.threshold) == (0.0, WIDTH / 4, WIDTH / 2, WIDTH / 2)
    assert (second.low, second.x, second.high) == (WIDTH, WIDTH, WIDTH)
    assert [mark for _, mark in chart.ticks] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_an_open_range_ends_at_the_largest_value_or_threshold():
    metric = Metric("m", range=(0.0, math.inf), threshold=8.0)
    chart = interval_chart(metric, [mean(2.0, (1.0, 4.0), threshold=math.inf)])
    assert [mark for _, mark in chart.ticks] == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert chart.lines[0].threshold is None


def test_without_a_finite_value_there_is_no_chart():
    assert interval_chart(Metric("m"), [mean(None), mean(math.inf)]) is None


def test_an_open_range_begins_at_a_threshold_below_the_values():
    metric = Metric("m", range=(-math.inf, math.inf), threshold=0.5)
    chart = interval_chart(metric, [mean(2.0, threshold=0.5), mean(4.0, threshold=0.0)])
    assert [mark for _, mark in chart.ticks] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [line.threshold for line in chart.lines] == [WIDTH / 8, 0.0]
