"""Items of two runs in pairs: which differences of their outputs are counted, and of which items."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.matching import Matched, class_of, deciding_metrics, match
from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    ChangedItems,
    Comparison,
    ItemChange,
    RunLabel,
    as_json,
)
from pytest_evalstudio.analysis.comparison.sides import Side, read_side
from support.records import RecordBuilder, evaluator, metric, score


def side(**items: dict[str, Any]) -> Side:
    """A run; `value` is the score of an item, `fields` are those of the item, the others of its row."""
    builder = RecordBuilder(evaluator("quality", metric(), metric("free", primary=False, asserted=False)))
    for key, row in items.items():
        value = row.pop("value", 1.0)
        fields = row.pop("fields", {})
        outcomes = {"quality": {"status": "score", "scores": {"score": value, "free": value}}}
        builder.add(key, "one", {"outcomes": outcomes, **row}, **fields)
    return read_side(builder.run, builder.typed_items)


def match_of(base: dict[str, Any], new: dict[str, Any]) -> Matched:
    return match(side(k=dict(base)), side(k=dict(new)))


def test_a_budget_or_a_skip_leaves_an_item_without_a_class() -> None:
    assert class_of("passed", "not_run") is None
    assert class_of("not_run", "failed") is None
    assert class_of("skipped", "skipped") is None
    assert class_of("failed", "failed", has_new_failure=True) == "regressed"
    assert class_of("passed", "passed", has_new_failure=True) == "still_passing"
    assert class_of("error", "failed", has_new_failure=True) == "error_then"


def test_an_item_that_fails_for_another_evaluator_regresses() -> None:
    def run(first: float, second: float) -> Side:
        builder = RecordBuilder(evaluator("a"), evaluator("b"))
        builder.add("k", "one", {"outcomes": {"a": score(first), "b": score(second)}})
        return read_side(builder.run, builder.typed_items)

    assert match(run(0.0, 1.0), run(0.0, 0.0)).counts["regressed"] == 1
    assert match(run(0.0, 1.0), run(1.0, 0.0)).counts["regressed"] == 1
    assert match(run(0.0, 0.0), run(0.0, 0.0)).counts["still_failing"] == 1


def test_only_items_with_verdicts_in_both_runs_are_pairs() -> None:
    skipped = {"fields": {"verdict": "skipped"}}
    base = side(a={}, b={}, c=dict(skipped), gone={})
    new = side(a={"value": 0.0}, b={"fields": {"verdict": "not_run"}}, c=dict(skipped), new={})
    result = match(base, new)
    assert [len(pairs) for pairs in result.pairs.values()] == [1]
    counts = {name: count for name, count in result.counts.items() if count}
    assert counts == {"regressed": 1, "gone": 1, "new": 1}


def test_items_out_of_scope_are_not_gone() -> None:
    base, new = side(a={}, b={}, c={}), side(a={})
    assert match(base, new).counts["gone"] == 2
    assert match(base, new, in_scope=lambda identity, item: identity[1] == "b").counts["gone"] == 1


@pytest.mark.parametrize(
    ("base", "new", "part"),
    [
        ({"actual_output": "a"}, {"actual_output": "b"}, "answers"),
        ({"context": ["a", "b"]}, {"context": ["a", "c"]}, "contexts"),
        ({"context": ["a", "b"]}, {"context": ["b", "a"]}, "context_order"),
        ({"tool_calls": [{"name": "a"}]}, {"tool_calls": [{"name": "b"}]}, "calls"),
        ({"tool_calls": [{"name": "a"}]}, {"tool_calls": []}, "calls"),
    ],
)
def test_outputs_that_differ_are_counted_by_their_part(
    base: dict[str, Any], new: dict[str, Any], part: str
) -> None:
    result = match_of(base, new)
    changed = {
        name: getattr(result, name).keys
        for name in ("answers", "contexts", "context_order", "calls")
        if getattr(result, name).keys
    }
    assert changed == {part: ["k"]}
    assert getattr(result, part).result() == ChangedItems(compared=1, changed=1, keys=("k",))
    assert result.changed_cases == []


def test_calls_are_compared_of_items_that_call_a_tool() -> None:
    assert match_of({}, {}).calls.result() == ChangedItems()
    calls = {"tool_calls": [{"name": "a"}]}
    assert match_of(calls, calls).calls.result() == ChangedItems(compared=1)


def test_an_item_in_error_has_no_answer_to_compare() -> None:
    down = {"error": "down", "actual_output": ""}
    result = match_of(down, {})
    assert (result.answers.compared, result.contexts.compared, result.calls.compared) == (0, 0, 0)
    assert match_of({}, {}).contexts.compared == match_of({}, {}).context_order.compared == 1


def test_another_question_is_a_changed_case() -> None:
    old = {"fields": {"digest": None}}
    assert match_of({"input": "a?", **old}, {"input": "b?", **old}).changed_cases == ["k"]
    assert match_of({"input": "a?", **old}, {"input": "a?", **old}).changed_cases == []


def test_a_change_has_the_scores_that_decide_and_the_texts_of_both_runs() -> None:
    calls = {"tool_calls": [{"name": "mail"}]}
    base = {"value": 0.75, "actual_output": "5 USD", "input": "Fee?", "fields": {"flaky": True}}
    new = {
        "value": 0.25,
        "actual_output": "6 USD",
        "input": "Fees?",
        "fields": {"reason": "too low"},
        **calls,
    }
    [change] = match_of(base, new).changes["regressed"]
    [scored] = change.scores
    assert (scored.evaluator, scored.metric, scored.base, scored.new) == ("quality", "score", 0.75, 0.25)
    assert (change.question, change.reason, change.flaky) == ("Fees?", "too low", True)
    assert (change.base_answer, change.answer) == ("5 USD", "6 USD")
    assert (change.base_calls, change.calls) == ((), ("mail()",))


def test_an_item_of_one_run_has_the_texts_of_that_run() -> None:
    failed = {"value": 0.0, "actual_output": "5 USD", "tool_calls": [{"name": "mail"}]}
    result = match(side(a=dict(failed)), side(b=dict(failed)))
    [removed_item], [new] = result.changes["gone"], result.changes["new"]
    assert (removed_item.key, removed_item.base_answer, removed_item.answer, removed_item.scores) == (
        "a",
        "5 USD",
        "",
        (),
    )
    assert (new.key, new.base_answer, new.answer, new.calls) == ("b", "", "5 USD", ())
    assert (removed_item.question, removed_item.nodeid) == ("What about a?", "suite.json::a[one]")


def test_a_change_is_named_by_its_question_else_by_its_item() -> None:
    def change(**fields: Any) -> ItemChange:
        return ItemChange(
            item_class="regressed", nodeid="s.json::k[m]", file="s.json", key="k", **{"model": "m", **fields}
        )

    question_change = change(question="Fee?")
    assert (question_change.title, question_change.label, question_change.source) == (
        "Fee?",
        "Fee? (m, k)",
        "m, k",
    )
    assert (change().title, change().label) == ("s.json::k[m]", "s.json::k[m]")
    assert change(model="").source == "k"


def test_a_run_is_named_by_its_id_day_and_commit() -> None:
    label = RunLabel(run_id="4f0f77", created="2026-11-20T10:00:00", commit="", items=1, has_answers=True)
    assert str(label) == "run 4f0f (2026-11-20)"


def test_why_no_metric_decides() -> None:
    def comparison(**fields: Any) -> Comparison:
        label = RunLabel(run_id="4f0f77", created="2026-11-20", commit="", items=1, has_answers=True)
        counts = dict.fromkeys(ITEM_CLASSES, 0) | fields.pop("items", {})
        defaults: dict[str, Any] = {"verdict": "inconclusive", "metrics": (), **fields}
        return Comparison(base=label, new=label, items=counts, **defaults)

    assert comparison().why_no_metric == "no primary or asserted metric has a score in both runs"
    assert comparison(shared_evaluators=0).why_no_metric == "the runs have no evaluator in common"
    assert not comparison().is_worse
    assert comparison(verdict="worse").is_worse
    assert comparison(items={"regressed": 1}).is_worse
    assert not comparison(items={"error_now": 1}).is_worse
    content = json.loads(as_json(comparison(items={"regressed": 1})))
    assert (content["items"]["regressed"], content["verdict"]) == (1, "inconclusive")


def test_a_metric_decides_if_it_is_primary_or_asserted() -> None:
    metrics = (
        metric("primary", asserted=False),
        metric("asserted", primary=False),
        metric("neither", primary=False, asserted=False),
    )
    run = RecordBuilder(evaluator("quality", *metrics)).run
    assert deciding_metrics(run.evaluators) == (("quality", "primary"), ("quality", "asserted"))
