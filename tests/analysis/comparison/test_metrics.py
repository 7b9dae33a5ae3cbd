"""Statistics of a comparison: verdicts at their limits, units, and figures per answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.analysis.comparison.metrics import (
    ComparisonLimits,
    ModelPairs,
    compare_metrics,
    compare_operations,
    overall,
)
from pytest_evalstudio.analysis.comparison.results import MetricComparison, OperationComparison, Verdict
from pytest_evalstudio.analysis.comparison.sides import read_side
from support.records import RecordBuilder, evaluator, metric, score


def pairs_of(
    base: list[dict[str, Any]], new: list[dict[str, Any]], *evaluators: dict[str, Any]
) -> tuple[ModelPairs, Any]:
    sides = []
    entries: Any = {}
    for rows in (base, new):
        builder = RecordBuilder(*evaluators)
        for number, row in enumerate(rows):
            builder.add(f"k{number}", "one", row)
        entries = builder.run.evaluators
        sides.append(read_side(builder.run, builder.typed_items))
    return {"one": list(zip(sides[0].items.values(), sides[1].items.values(), strict=True))}, entries


def comparison_of(
    base: list[float | None], new: list[float | None], *, limits: ComparisonLimits | None = None, **entry: Any
) -> MetricComparison:
    rows = ([{"outcomes": {"quality": score(value)}} for value in values] for values in (base, new))
    pairs, entries = pairs_of(*rows, evaluator("quality", metric(**entry)))
    [result] = compare_metrics(pairs, entries, limits or ComparisonLimits())
    return result


def operations(base: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[str, OperationComparison]:
    pairs, _ = pairs_of(base, new)
    return {each.quantity: each for each in compare_operations(pairs)}


def test_only_cases_with_both_scores_are_pairs() -> None:
    result = comparison_of([0.5, None, 1.0, 0.25], [1.0, 1.0, None, 0.25])
    assert (result.n, result.changed, result.base, result.new) == (2, 1, 0.375, 0.625)
    assert result.difference == 0.25
    pairs, entries = pairs_of(*[[{"outcomes": {"quality": score(None)}}]] * 2, evaluator("quality"))
    assert compare_metrics(pairs, entries, ComparisonLimits()) == []


def test_p_is_that_of_the_exact_test_and_an_allowed_drop_is_no_worse() -> None:
    base, new = [1.0] * 20, [1.0] * 14 + [0.0] * 6
    result = comparison_of(base, new)
    assert result.p == pytest.approx(stats.binomtest(6, 6, alternative="greater").pvalue)
    assert result.verdict == "worse"
    for allowed_drop, verdict in ((0.3, "inconclusive"), (0.29, "worse")):
        assert comparison_of(base, new, limits=ComparisonLimits(allowed_drop=allowed_drop)).verdict == verdict
    wide = ComparisonLimits(allowed_drop=0.3, tolerance=0.7)
    assert comparison_of(base, new, limits=wide).verdict == "not worse"


def test_limits_are_shares_of_the_range_or_of_the_base_mean() -> None:
    base, new = [50.0] * 20, [50.0] * 14 + [30.0] * 6
    by_range = {"range": [0.0, 100.0], "threshold": 10.0}
    result = comparison_of(base, new, **by_range)
    assert (result.unit, result.difference) == (100.0, -6.0)
    assert comparison_of(base, new, limits=ComparisonLimits(allowed_drop=0.07), **by_range).verdict != "worse"
    assert comparison_of(base, new, limits=ComparisonLimits(allowed_drop=0.05), **by_range).verdict == "worse"
    endless = {"range": [0.0, "Infinity"], "threshold": 10.0}
    assert comparison_of(base, new, **endless).unit == 50.0
    assert comparison_of(base, new, limits=ComparisonLimits(allowed_drop=0.13), **endless).verdict != "worse"
    assert comparison_of(base, new, limits=ComparisonLimits(allowed_drop=0.11), **endless).verdict == "worse"


def test_the_interval_of_a_metric_of_which_less_is_better_is_mirrored() -> None:
    higher = comparison_of([1.0] * 20, [1.0] * 14 + [0.0] * 6)
    lower = comparison_of([0.0] * 20, [0.0] * 14 + [1.0] * 6, better="lower")
    assert (lower.difference, lower.p, lower.verdict) == (0.3, higher.p, "worse")
    assert higher.low is not None
    assert higher.high is not None
    assert (lower.low, lower.high) == pytest.approx((-higher.high, -higher.low))
    assert lower.max_drop == pytest.approx(higher.max_drop)


def test_a_metric_that_does_not_decide_is_no_test_of_the_family() -> None:
    secondary = metric("free", primary=False, asserted=False)
    good, bad = (
        {"outcomes": {"quality": {"status": "score", "scores": dict.fromkeys(("score", "free"), value)}}}
        for value in (1.0, 0.0)
    )
    base, new = [good] * 20, [good] * 15 + [bad] * 5
    pairs, entries = pairs_of(base, new, evaluator("quality", metric(), secondary))
    first, second = compare_metrics(pairs, entries, ComparisonLimits())
    assert (first.decides, second.decides) == (True, False)
    assert first.p_adjusted == first.p == second.p_adjusted == pytest.approx(1 / 32)


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        (("not worse", "inconclusive", "worse"), "worse"),
        (("not worse", "inconclusive"), "inconclusive"),
        (("not worse",), "not worse"),
        ((), "inconclusive"),
    ],
)
def test_the_worst_verdict_of_deciding_metrics_is_that_of_the_run(
    verdicts: tuple[Verdict, ...], worst: Verdict
) -> None:
    template = comparison_of([1.0] * 3, [1.0] * 3)
    fields = {name: getattr(template, name) for name in template.__struct_fields__}
    metrics = [MetricComparison(**{**fields, "verdict": verdict}) for verdict in verdicts]
    hidden = MetricComparison(**{**fields, "verdict": "worse", "decides": False})
    assert overall([*metrics, hidden]) == worst


def test_figures_per_answer_are_means_of_the_pairs_that_have_them() -> None:
    base = [{"cost": value, "actual_output": "x" * 4} for value in (0.1, 0.2, None)]
    new = [{"cost": value, "actual_output": "x" * 5} for value in (0.1, 0.4, 0.9)]
    result = operations(base, new)
    assert set(result) == {"answer_chars", "cost_usd"}
    cost, length = result["cost_usd"], result["answer_chars"]
    assert (cost.n, cost.changed) == (2, 1)
    assert (cost.base, cost.new, cost.difference) == pytest.approx((0.15, 0.25, 0.1))
    assert (length.n, length.changed, length.base, length.new) == (3, 3, 4.0, 5.0)
    assert (length.low, length.high) == (1.0, 1.0)


def test_a_single_answer_has_no_interval() -> None:
    result = operations([{"cost": 0.1}], [{"cost": 0.2}])["cost_usd"]
    assert (result.n, result.low, result.high) == (1, None, None)


def test_many_answers_have_the_normal_interval() -> None:
    rng = np.random.default_rng(3)
    costs = rng.random(2_000)
    result = operations([{"cost": 1.0}] * 2_000, [{"cost": 1.0 + float(cost)} for cost in costs])["cost_usd"]
    error = costs.std(ddof=1) / 2_000**0.5
    assert (result.low, result.high) == pytest.approx(
        (costs.mean() - 1.959964 * error, costs.mean() + 1.959964 * error), abs=1e-6
    )


def test_scores_are_yes_or_no_only_if_both_runs_say_so() -> None:
    """A score of 1 less a billionth is graded: the drop that can be detected is nearly the same."""
    new = [1.0] * 16 + [0.5] * 4
    graded, nearly = comparison_of([1.0] * 20, new), comparison_of([1.0 - 1e-9] * 20, new)
    assert graded.smallest_detectable is not None
    assert graded.smallest_detectable == pytest.approx(nearly.smallest_detectable, abs=1e-6)


def test_a_drop_of_exactly_the_allowed_one_exceeds_nothing() -> None:
    limits = ComparisonLimits(allowed_drop=0.3)
    assert 1.0 - 0.7 > 0.3
    assert not limits.are_exceeded(1.0 - 0.7, 1.0)
    assert limits.are_exceeded(0.31, 1.0)
    assert not limits.are_exceeded(3.1, 100.0)
    assert limits.are_exceeded(31.0, 100.0)
