"""The sentences of a comparison name what matters most."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    ChangedItems,
    Comparison,
    MetricComparison,
    RunLabel,
)
from pytest_evalstudio.analysis.comparison.sentences import summary_of
from pytest_evalstudio.analysis.comparison.sides import Side, read_side
from support.records import RecordBuilder, boolean_evaluator, evaluator, score

CASES = 40


def side(*, is_base: bool) -> Side:
    """Return a run in which 12 of 40 answers became wrong, and all lost a little of their wording."""
    builder = RecordBuilder(evaluator("wording"), boolean_evaluator())
    for number in range(CASES):
        passes = 1.0 if is_base or number >= 12 else 0.0
        outcomes = {
            "wording": score(0.6 if is_base else 0.59),
            "text_matching": score(passes, "model_passes"),
        }
        builder.add(f"k{number}", "one", {"outcomes": outcomes})
    return read_side(builder.run, builder.typed_items)


def test_the_largest_proven_drop_is_named_not_the_surest_one() -> None:
    comparison = compare(side(is_base=True), side(is_base=False))
    worse = [metric for metric in comparison.metrics if metric.verdict == "worse"]
    assert min(worse, key=lambda metric: metric.p_adjusted).evaluator == "wording"
    assert "text_matching.model_passes of one by 0.3 (" in summary_of(comparison).follows


BASE = RunLabel(run_id="4f0f77", created="2026-11-20T10:00:00", commit="", items=40, has_answers=True)


def metric(**fields: Any) -> MetricComparison:
    defaults: dict[str, Any] = {
        "evaluator": "rouge",
        "metric": "rouge_l",
        "model": "m",
        "n": 40,
        "changed": 3,
        "base": 0.5,
        "new": 0.45,
        "difference": -0.05,
        "low": -0.12,
        "high": 0.1,
        "p": 0.2,
        "p_adjusted": 0.2,
        "smallest_detectable": None,
        "verdict": "inconclusive",
    }
    return MetricComparison(**{**defaults, **fields})


def summary(*metrics: MetricComparison, verdict: str = "inconclusive", **fields: Any) -> str:
    counts = dict.fromkeys(ITEM_CLASSES, 0) | fields.pop("items", {})
    defaults: dict[str, Any] = {"verdict": verdict, "base": BASE, "new": BASE, "matched": 1_200}
    return str(summary_of(Comparison(items=counts, metrics=metrics, **{**defaults, **fields})))


def test_a_run_without_any_change_names_the_drop_that_it_could_miss() -> None:
    unchanged_metric = metric(changed=0)
    assert (
        summary(unchanged_metric)
        == "no case changed. With 40 cases, a real drop of up to 0.12 could go unnoticed."
    )
    answers = ChangedItems(compared=40, changed=7)
    assert summary(unchanged_metric, answers=answers) == (
        "no case changed its result, although 7 of 40 answers differ. With 40 cases, a real drop of up to"
        " 0.12 could go unnoticed."
    )


def test_regressed_cases_come_first_and_all_other_changes_follow() -> None:
    items = {"regressed": 1_100, "error_now": 1, "fixed": 2, "new": 3, "gone": 4}
    assert summary(metric(), items=items, models=2) == (
        "1,100 of 1,200 cases of 2 models regressed; 1 error now; 2 fixed; 3 new; 4 gone. 40 cases are"
        " too few to tell whether other questions got worse (p 0.2)."
    )
    assert summary(metric(), items={"new": 1}).startswith("none of 1,200 cases regressed; 1 new. 40 cases")
    assert summary(metric(changed=0), items={"fixed": 1}).startswith(
        "none of 1,200 cases regressed; 1 fixed. W"
    )


def test_the_least_p_of_a_changed_metric_tells_that_nothing_can_be_told() -> None:
    text = summary(metric(p_adjusted=0.3), metric(p_adjusted=0.1, n=30), metric(p_adjusted=0.01, changed=0))
    assert text.endswith("30 cases are too few to tell whether other questions got worse (p 0.1).")


def test_metrics_that_are_not_worse_exclude_drops_above_the_widest_limit() -> None:
    first = metric(verdict="not worse", low=-0.05)
    second = metric(verdict="not worse", low=-4.0, unit=100.0)
    text = summary(first, second, verdict="not worse")
    assert text.endswith("Drops above 0.05 are excluded for other questions (40 cases).")


def test_further_proven_drops_are_counted() -> None:
    first = metric(verdict="worse", difference=-0.3, p_adjusted=0.0004)
    second = metric(verdict="worse", difference=-20.0, unit=100.0, p_adjusted=0.001)
    text = summary(first, second, metric(), verdict="worse")
    assert text.endswith("rouge.rouge_l of m by 0.3 (p < 0.001, 40 cases), and 1 more.")


def test_without_a_metric_nothing_follows() -> None:
    assert summary(shared_evaluators=0, matched=0) == (
        "answers of the runs are not paired. Nothing follows for other questions: the runs have no evaluator"
        " in common."
    )
    assert summary(metric(decides=False, changed=0)).endswith(
        "no primary or asserted metric has a score in both runs."
    )


def test_a_run_with_errors_only_has_no_models_to_name() -> None:
    assert summary(models=0, matched=0, items={"error_now": 1}).startswith(
        "none of 0 cases regressed; 1 error now. "
    )
