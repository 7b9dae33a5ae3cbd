"""Calls of two runs: aligned step by step, bounded, from records and their outlines alike."""

from __future__ import annotations

import msgspec
import pytest

from pytest_evalstudio.analysis.comparison.calls import CALL_CHARS, align, packed_calls, unpacked_calls
from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.record.outline import RowOutline
from support.records import RecordBuilder, evaluator, metric


@pytest.mark.parametrize(
    ("base", "new", "aligned"),
    [
        ("", "", ""),
        ("a1 b1", "a1 b1", "same same"),
        ("a1 b1", "a1 b2", "same changed"),
        ("a1 b1", "b1", "gone same"),
        ("b1", "a1 b1", "new same"),
        ("a1 b1 c1", "a1 x1 c1", "same gone new same"),
        ("a1 a2", "a3", "changed gone"),
        ("a1 b1", "b1 a1", "new same gone"),
    ],
)
def test_calls_are_aligned_in_their_order(base: str, new: str, aligned: str) -> None:
    sides = ([f"{word[0]}({word[1:]})" for word in text.split()] for text in (base, new))
    assert " ".join(change.kind for change in align(*sides)) == aligned


def row_of(*calls: dict[str, object]) -> RecordBuilder:
    builder = RecordBuilder()
    builder.add("k", "one", {"tool_calls": list(calls), "outcomes": {}})
    return builder


def test_packed_calls_are_the_same_for_a_row_and_its_outline() -> None:
    calls = [
        {"name": "find", "arguments": {"id": "Straße\x1f", "n": 1.5}},
        {"name": "broken", "arguments_text": "{id:"},
        {"name": "none"},
    ]
    [item] = row_of(*calls).typed_items
    outline = msgspec.json.decode(msgspec.json.encode(item.rows[0]), type=RowOutline)
    call_texts = ('find(id="Straße\\u001f", n=1.5)', "broken({id:)", "none()")
    assert unpacked_calls(packed_calls(item.rows[0])) == call_texts
    assert unpacked_calls(packed_calls(outline)) == call_texts


def test_long_arguments_and_lists_are_cut() -> None:
    [item] = row_of(*[{"name": "f", "arguments": {"text": "x" * 50_000}}] * 201).typed_items
    packed = packed_calls(item.rows[0])
    assert len(packed) < 500_000
    call_texts = unpacked_calls(packed)
    assert (len(call_texts), len(call_texts[0])) == (200, CALL_CHARS)


def agent_run(score: float, *calls: str) -> RecordBuilder:
    builder = RecordBuilder(evaluator("quality", metric()))
    outcomes = {"quality": {"status": "score", "scores": {"score": score}}}
    row = {"input": "?", "actual_output": "Done.", "tool_calls": [{"name": name} for name in calls]}
    builder.add("k", "one", {**row, "outcomes": outcomes})
    return builder


def test_a_regressed_case_has_the_calls_of_both_runs_where_they_differ() -> None:
    base, new, rerun = agent_run(0.9, "find"), agent_run(0.1, "find", "mail"), agent_run(0.1, "find")
    [change] = compare(read_side(base.run, base.typed_items), read_side(new.run, new.typed_items)).changes
    assert (change.base_calls, change.calls) == (("find()",), ("find()", "mail()"))
    [unchanged] = compare(
        read_side(base.run, base.typed_items), read_side(rerun.run, rerun.typed_items)
    ).changes
    assert (unchanged.base_calls, unchanged.calls) == ((), ())


def test_packed_arguments_are_cut_at_two_thousand_characters() -> None:
    [item] = row_of({"name": "f", "arguments": {"text": "x" * 50_000}}).typed_items
    assert len(packed_calls(item.rows[0])) == len("f\x1e") + 2_000
