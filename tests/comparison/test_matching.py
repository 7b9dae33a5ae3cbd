"""Items of two runs in pairs: which differences of their outputs are counted, and of which items."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.comparison.matching import Matched, class_of, match
from pytest_evalstudio.comparison.results import ChangedItems
from pytest_evalstudio.comparison.sides import Side, read_side
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


def one(base: dict[str, Any], new: dict[str, Any]) -> Matched:
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
    result = one(base, new)
    changed = {
        name: getattr(result, name).keys
        for name in ("answers", "contexts", "context_order", "calls")
        if getattr(result, name).keys
    }
    assert changed == {part: ["k"]}
    assert getattr(result, part).result() == ChangedItems(compared=1, changed=1, keys=("k",))
    assert result.changed_cases == []


def test_calls_are_compared_of_items_that_call_a_tool() -> None:
    assert one({}, {}).calls.result() == ChangedItems()
    calls = {"tool_calls": [{"name": "a"}]}
    assert one(calls, calls).calls.result() == ChangedItems(compared=1)


def test_an_item_in_error_has_no_answer_to_compare() -> None:
    down = {"error": "down", "actual_output": ""}
    result = one(down, {})
    assert (result.answers.compared, result.contexts.compared, result.calls.compared) == (0, 0, 0)
    assert one({}, {}).contexts.compared == one({}, {}).context_order.compared == 1


def test_another_question_is_a_changed_case() -> None:
    assert one({"input": "a?"}, {"input": "b?"}).changed_cases == ["k"]
    assert one({"input": "a?"}, {"input": "a?"}).changed_cases == []


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
    [change] = one(base, new).changes["regressed"]
    [scored] = change.scores
    assert (scored.evaluator, scored.metric, scored.base, scored.new) == ("quality", "score", 0.75, 0.25)
    assert (change.question, change.reason, change.flaky) == ("Fees?", "too low", True)
    assert (change.base_answer, change.answer) == ("5 USD", "6 USD")
    assert (change.base_calls, change.calls) == ((), ("mail()",))


def test_an_item_of_one_run_has_the_texts_of_that_run() -> None:
    failed = {"value": 0.0, "actual_output": "5 USD", "tool_calls": [{"name": "mail"}]}
    result = match(side(a=dict(failed)), side(b=dict(failed)))
    [gone], [new] = result.changes["gone"], result.changes["new"]
    assert (gone.key, gone.base_answer, gone.answer, gone.scores) == ("a", "5 USD", "", ())
    assert (new.key, new.base_answer, new.answer, new.calls) == ("b", "", "5 USD", ())
    assert (gone.question, gone.nodeid) == ("What about a?", "suite.json::a[one]")
