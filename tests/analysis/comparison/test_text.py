"""A metric's line says what is known of it, and nothing that is not."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    ChangedItems,
    Comparison,
    MetricComparison,
    OperationComparison,
    PromptChange,
    RunLabel,
    ScoreChange,
)
from pytest_evalstudio.analysis.comparison.text import changed_lines, comparison_lines, metric_line
from support.item_changes import item_change


def metric_comparison(**fields: Any) -> MetricComparison:
    defaults: dict[str, Any] = {
        "evaluator": "rouge",
        "metric": "rouge_l",
        "model": "m",
        "n": 20,
        "verdict": "inconclusive",
        "base": 0.5,
        "new": 0.45,
        "difference": -0.05,
        "low": None,
        "high": None,
        "p": 0.2,
        "p_adjusted": 0.2,
        "smallest_detectable": None,
    }
    return MetricComparison(**{**defaults, **fields})


@pytest.mark.parametrize(
    ("cases_needed", "end"), [(None, "20 pairs"), (1200, "20 pairs; about 1,200 cases would be enough")]
)
def test_the_number_of_cases_is_stated_where_it_is_known(cases_needed: int | None, end: str) -> None:
    line = metric_line(metric_comparison(cases_needed=cases_needed))
    assert line.endswith(end)
    assert line.startswith("inconclusive: rouge.rouge_l of m: 0.5 -> 0.45, difference -0.05, p 0.2, ")


@pytest.mark.parametrize(
    ("smallest", "changed", "is_stated"), [(0.1, 3, True), (0.1, 0, False), (None, 3, False)]
)
def test_the_smallest_detectable_drop_is_stated_where_something_changed(
    smallest: float | None, changed: int, is_stated: bool
) -> None:
    line = metric_line(metric_comparison(smallest_detectable=smallest, changed=changed))
    assert ("smallest detectable drop 0.1" in line) is is_stated


def test_a_decided_metric_needs_no_more_cases() -> None:
    line = metric_line(metric_comparison(verdict="worse", smallest_detectable=0.1, cases_needed=10))
    assert "cases would be enough" not in line
    assert "smallest detectable" not in line


@pytest.mark.parametrize(("changed", "is_unchanged"), [(0, True), (1, False)])
def test_a_metric_without_a_changed_case_names_the_drop_that_cannot_be_excluded(
    changed: int, is_unchanged: bool
) -> None:
    line = metric_line(metric_comparison(changed=changed, low=-0.12, high=0.1))
    assert (
        "no case changed; with 20 pairs, a real drop of up to 0.12 could go unnoticed" in line
    ) is is_unchanged


BASE = RunLabel(run_id="4f0f77", created="2026-11-20T10:00:00", commit="", items=40, has_answers=True)


def comparison(**fields: Any) -> Comparison:
    counts = dict.fromkeys(ITEM_CLASSES, 0) | fields.pop("items", {})
    defaults: dict[str, Any] = {
        "verdict": "inconclusive",
        "base": BASE,
        "new": BASE,
        "matched": 40,
        "metrics": (),
    }
    return Comparison(items=counts, **{**defaults, **fields})


def operation(**fields: Any) -> OperationComparison:
    defaults: dict[str, Any] = {
        "quantity": "duration_s",
        "model": "m",
        "n": 40,
        "changed": 40,
        "base": 1.0,
        "new": 1.5,
        "difference": 0.5,
        "low": 0.25,
        "high": 0.75,
    }
    return OperationComparison(**{**defaults, **fields})


def test_regressed_items_have_their_scores_and_the_change_of_their_answer() -> None:
    score = ScoreChange(evaluator="rouge", metric="rouge_l", base=0.5, new=None)
    lines = list(
        comparison_lines(
            comparison(
                items={"regressed": 2, "fixed": 1, "still_passing": 37},
                changes=(
                    item_change("a", scores=(score,), base_answer="5 USD", answer="6 USD"),
                    item_change("b", item_class="error_now", base_answer="same", answer="same"),
                    item_change("c", item_class="fixed", base_answer="a", answer="b"),
                ),
                notes=("so",),
            )
        )
    )
    assert lines[0] == "compared with run 4f0f (2026-11-20)"
    assert lines[2:] == [
        "items: 2 regressed, 1 fixed, 37 still passing",
        "  regressed: s.json::a: rouge: rouge_l 0.5 -> none",
        "    [-5-]{+6+} USD",
        "  error now: s.json::b",
        "verdict: inconclusive",
        "changed: nothing recorded",
        "note: so",
    ]


@pytest.mark.parametrize(("count", "hidden"), [(20, ""), (23, "  ... and 3 more")])
def test_twenty_regressed_items_are_shown_and_the_others_counted(count: int, hidden: str) -> None:
    changes = tuple(item_change(f"k{number}") for number in range(count))
    lines = list(
        comparison_lines(comparison(items={"regressed": count - 1, "error_now": 1}, changes=changes))
    )
    assert sum(line.startswith("  regressed: ") for line in lines) == 20
    assert [line for line in lines if line.endswith(" more")] == [hidden] * bool(hidden)


def test_a_new_error_is_shown_after_many_fixed_items() -> None:
    fixed = tuple(item_change(f"k{number}", item_class="fixed") for number in range(25))
    changes = (*fixed, item_change("broken", item_class="error_now"))
    lines = list(comparison_lines(comparison(items={"fixed": 25, "error_now": 1}, changes=changes)))
    assert [line for line in lines if line.startswith("  error now: ")] == ["  error now: s.json::broken"]


def test_metrics_that_are_not_worse_are_counted() -> None:
    fine = metric_comparison(verdict="not worse", low=-0.1, high=0.1)
    metrics = (
        fine,
        metric_comparison(verdict="not worse", difference=0.0, low=-0.1, high=0.1),
        metric_comparison(verdict="worse", metric="rouge_1"),
        metric_comparison(verdict="worse", metric="hidden", decides=False),
    )
    lines = list(comparison_lines(comparison(verdict="worse", metrics=metrics)))
    assert lines[lines.index("verdict: worse") + 1 : -1] == [
        "  worse: rouge.rouge_1 of m: 0.5 -> 0.45, difference -0.05, p 0.2, 20 pairs",
        "  not worse: 2 of 3 metrics, of which 1 changed",
    ]


def test_a_rescored_baseline_has_the_drift_of_the_measure_beside_that_of_the_model() -> None:
    drift = metric_comparison(difference=-0.1, low=-0.2, high=-0.05)
    other = metric_comparison(metric="rouge_1", difference=0.1, low=0.05, high=0.2)
    model = (metric_comparison(difference=0.25), metric_comparison(difference=0.5, model="another"))
    lines = list(comparison_lines(comparison(measure=(drift, other), model=model)))
    assert [line for line in lines if "the measure moved" in line] == [
        "  rouge.rouge_l of m: the measure moved by -0.1 [-0.2, -0.05] on unchanged answers; model: +0.25",
        (
            "  rouge.rouge_1 of m: the measure moved by +0.1 [+0.05, +0.2] on unchanged answers; model: no"
            " change"
        ),
    ]


def test_seconds_alone_are_no_change_of_the_runs() -> None:
    assert list(changed_lines(comparison(operations=(operation(),)))) == [
        "nothing but the seconds per answer",
        "duration of m: 1 -> 1.5 s per answer [+0.25, +0.75], 40 of 40 differ",
    ]
    assert list(changed_lines(comparison(operations=(operation(changed=0),)))) == ["nothing recorded"]
    cost = operation(quantity="cost_usd", low=None, high=None, n=1, changed=1)
    assert list(changed_lines(comparison(operations=(cost,)))) == [
        "nothing recorded",
        "cost of m: 1 -> 1.5 USD per answer, 1 of 1 differ",
    ]
    assert next(iter(changed_lines(comparison(changed=("model", "host"), operations=(operation(),))))) == (
        "model, host"
    )


def test_all_that_changed_has_its_line() -> None:
    keys = tuple(f"k{number}" for number in range(12))
    lines = list(
        changed_lines(
            comparison(
                answers=ChangedItems(compared=40, changed=12, keys=keys),
                calls=ChangedItems(compared=5, changed=1, keys=("k1",)),
                contexts=ChangedItems(compared=40),
                prompts=(PromptChange(model="m", base_file="", file="p.txt", base="a b", new="a c"),),
                changed_cases=("k2",),
                changed_documents=("fees.md",),
                document_cases=keys[:10],
                renamed_files={"old.json": "new.json"},
            )
        )
    )
    ten = ", ".join(keys[:10])
    assert lines[1:] == [
        f"answers: 12 of 40 ({ten} and 2 more)",
        "tool calls: 1 of 5 (k1)",
        "prompt of m (none -> p.txt): a [-b-]{+c+}",
        "cases: k2",
        "documents: fees.md",
        f"cases that use them: {ten}",
        "file old.json is now new.json; its cases are matched",
    ]


def test_one_hidden_regression_is_counted() -> None:
    changes = tuple(item_change(f"k{number}") for number in range(21))
    lines = list(comparison_lines(comparison(items={"regressed": 21}, changes=changes)))
    assert [line for line in lines if line.endswith(" more")] == ["  ... and 1 more"]
