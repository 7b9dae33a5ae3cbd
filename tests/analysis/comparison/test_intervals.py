"""The interval of a difference belongs to the test of the verdict, and has a width."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_evalstudio.analysis.comparison.intervals import gain_interval
from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits, compare_metrics
from pytest_evalstudio.analysis.comparison.results import MetricComparison
from pytest_evalstudio.analysis.comparison.sample_size import smallest_detectable
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from support.records import RecordBuilder, evaluator, score


def comparison_of(base: list[float], new: list[float], *evaluators: str) -> MetricComparison:
    """Compare the first of some evaluators, all of which have the same scores."""
    names = evaluators or ("quality",)
    sides, entries = [], dict[str, EvaluatorEntry]()
    for values in (base, new):
        builder = RecordBuilder(*map(evaluator, names))
        for number, value in enumerate(values):
            builder.add(f"k{number}", "one", {"outcomes": {name: score(value) for name in names}})
        entries = builder.run.evaluators
        sides.append(read_side(builder.run, builder.typed_items))
    matched = list(zip(sides[0].items.values(), sides[1].items.values(), strict=True))
    return compare_metrics({"one": matched}, entries, ComparisonLimits())[0]


def falling(falls: int, rises: int, total: int) -> tuple[list[float], list[float]]:
    ties = total - falls - rises
    return (
        [1.0] * falls + [0.0] * rises + [1.0] * ties,
        [0.0] * falls + [1.0] * rises + [1.0] * ties,
    )


@pytest.mark.parametrize("total", [2, 3, 5, 20, 60])
@pytest.mark.parametrize("value", [0.0, 0.7, 1.0])
def test_equal_pairs_of_few_cases_are_no_proof(total: int, value: float) -> None:
    metric = comparison_of([value] * total, [value] * total)
    assert metric.verdict == "inconclusive"
    assert metric.low == pytest.approx(-(1 - 0.045 ** (1 / total)), abs=1e-5)
    assert metric.high is not None
    assert metric.high > 0
    assert metric.cases_needed == 61


def test_equal_pairs_of_many_cases_exclude_a_drop_that_matters() -> None:
    metric = comparison_of([1.0] * 61, [1.0] * 61)
    assert (metric.verdict, metric.changed, metric.cases_needed) == ("not worse", 0, None)


@pytest.mark.parametrize("total", [6, 12, 100])
def test_zero_is_excluded_exactly_where_a_drop_is_proven(total: int) -> None:
    verdicts = set()
    for falls in range(min(total, 14) + 1):
        for rises in range(min(3, total - falls) + 1):
            metric = comparison_of(*falling(falls, rises, total))
            assert metric.low is not None
            assert metric.high is not None
            assert metric.low < metric.difference or metric.low == -1.0
            assert metric.high <= 0 if metric.verdict == "worse" else metric.high >= 0
            assert (metric.low > -0.05) == (metric.verdict == "not worse")
            verdicts.add(metric.verdict)
    assert "worse" in verdicts


def test_the_interval_follows_the_adjusted_test() -> None:
    single_metric = comparison_of(*falling(5, 0, 20))
    among = comparison_of(*falling(5, 0, 20), "quality", "other")
    assert (single_metric.verdict, single_metric.p_adjusted, single_metric.high) == ("worse", 0.03125, 0.0)
    assert (among.verdict, among.p_adjusted) == ("inconclusive", 0.0625)
    assert among.high is not None
    assert among.high > 0


def test_a_strong_drop_has_an_end_below_zero_and_a_strong_rise_one_above() -> None:
    drop, rise = comparison_of(*falling(30, 0, 100)), comparison_of(*falling(0, 30, 100))
    assert drop.high is not None
    assert drop.high < -0.1
    assert rise.low is not None
    assert rise.low > 0.1
    assert rise.verdict == "not worse"


@pytest.mark.parametrize("total", [20, 200])
def test_a_continuous_metric_with_ties_has_no_zero_width(total: int) -> None:
    base = np.linspace(0.2, 0.9, total).tolist()
    metric = comparison_of(base, base)
    assert metric.low is not None
    assert metric.high is not None
    assert metric.high - metric.low > 0.02
    assert metric.verdict == ("not worse" if total > 60 else "inconclusive")


def test_a_metric_without_a_range_is_judged_by_its_mean() -> None:
    unbounded = {**evaluator("quality")["metrics"][0], "range": [0.0, "Infinity"], "better": "lower"}
    sides = []
    for shift in (0.0, 0.1):
        builder = RecordBuilder(evaluator("quality", unbounded))
        for number in range(200):
            value = 20.0 + number % 7 + shift * (number % 3)
            builder.add(f"k{number}", "one", {"outcomes": {"quality": score(value)}})
        sides.append(read_side(builder.run, builder.typed_items))
    matched = list(zip(sides[0].items.values(), sides[1].items.values(), strict=True))
    (metric,) = compare_metrics({"one": matched}, builder.run.evaluators, ComparisonLimits())
    assert metric.low is not None
    assert metric.high is not None
    assert 0 <= metric.low < metric.difference < metric.high
    assert metric.verdict == "worse"


def test_scores_of_zero_without_a_range_have_no_interval() -> None:
    assert gain_interval(np.zeros(9), np.ones(9), extreme=0.0, is_drop=False) is None


@pytest.mark.parametrize("cases", [10, 20, 50])
def test_the_smallest_detectable_drop_of_a_continuous_metric_has_its_power(cases: int) -> None:
    rng = np.random.default_rng(cases)
    drop = smallest_detectable(0.15 / cases**0.5, cases, unit=1.0, is_yes_no=False, tests=1)
    assert drop is not None
    p_values = [sign_flip_drop(rng.normal(-drop, 0.15, cases), draws=499) for _ in range(300)]
    assert np.mean(np.asarray(p_values) <= 0.05) == pytest.approx(0.8, abs=0.07)


def test_few_cases_find_no_drop_at_all() -> None:
    yes_no = comparison_of([1.0] * 4, [0.0] * 4)
    continuous = comparison_of([0.9, 0.8, 0.7, 0.6], [0.1, 0.3, 0.3, 0.1])
    assert yes_no.smallest_detectable is continuous.smallest_detectable is None
    assert yes_no.verdict == continuous.verdict == "inconclusive"
    assert comparison_of([1.0] * 20, [1.0] * 20).smallest_detectable == 0.25


def test_the_cases_that_are_needed_would_settle_it() -> None:
    small_sample = comparison_of(*falling(1, 1, 40))
    assert small_sample.cases_needed is not None
    factor = small_sample.cases_needed / 40
    large_sample = comparison_of(*falling(round(factor), round(factor), round(40 * factor)))
    assert (small_sample.verdict, large_sample.verdict) == ("inconclusive", "not worse")
