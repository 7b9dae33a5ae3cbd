"""Texts in compressed blocks: every text is where its place says, and the budget is kept."""

from __future__ import annotations

import gzip
import json

import msgspec
import pytest

from pytest_evalstudio.report.data import texts
from pytest_evalstudio.report.data.texts import BLOCK_ENTRIES, NOWHERE, TEXT_CHARS, TextStore
from support.records import RecordBuilder, score

FAILS = 3
"""Each third item is notable."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(texts, "BLOCK_CHARS", 2_000)


def items(count, **row):
    builder = RecordBuilder()
    for number in range(count):
        more = {
            "actual_output": f"answer {number}",
            "context": [f"chunk {number}"],
            "outcomes": {"quality": score(0.9)},
            **row,
        }
        builder.add(f"k{number}", "one", more)
    return builder.typed_items


def stored(entries, budget=10**9):
    with TextStore(budget) as store:
        positions = [store.add(item, notable=number % FAILS == 0) for number, item in enumerate(entries)]
        blocks = {number: json.loads(gzip.decompress(data)) for number, data in store.blocks()}
    return positions, blocks


def entry(blocks, place):
    return (
        None
        if place == NOWHERE or place // BLOCK_ENTRIES not in blocks
        else blocks[place // BLOCK_ENTRIES][place % BLOCK_ENTRIES]
    )


def test_every_text_is_where_its_place_says():
    positions, blocks = stored(items(100))
    assert len(blocks) > 5
    for number, (place, context) in enumerate(positions):
        result = entry(blocks, place)["answers"][0]
        assert result["text"] == f"answer {number}"
        contexts = result["context"] if number % FAILS == 0 else entry(blocks, context)[0]
        assert contexts["chunks"] == [f"chunk {number}"]
        assert (context == NOWHERE) == (number % FAILS == 0)


def test_contexts_of_passing_cases_go_first_then_their_texts_then_failures():
    result = items(120, input="".join(f"{number:x}" for number in range(300)))
    for budget in (10**9, 3_000, 1_500, 400):
        positions, blocks = stored(result, budget)
        presence = [[entry(blocks, place) is not None for place in pair] for pair in positions]
        notable = [texts for number, (texts, _) in enumerate(presence) if number % FAILS == 0]
        other = [texts for number, (texts, _) in enumerate(presence) if number % FAILS]
        context = [contexts for number, (_, contexts) in enumerate(presence) if number % FAILS]
        assert all(notable) or not any(other)
        assert all(other) or not any(context)
        if budget == 10**9:
            assert all(notable + other + context)
    assert not all(notable)


def test_the_budget_is_kept():
    with TextStore(1_500) as store:
        for number, item in enumerate(items(500)):
            store.add(item, notable=number % FAILS == 0)
        assert sum(len(data) for _, data in store.blocks()) <= 1_500


def test_the_same_items_give_the_same_blocks():
    assert stored(items(300), 2_500) == stored(items(300), 2_500)


def test_long_texts_are_cut_and_say_by_how_much():
    marks = [
        {"part": "answer", "start": start, "end": start + 1} for start in (0, TEXT_CHARS - 1, TEXT_CHARS)
    ]
    outcome = score(0.1, fragments=marks)
    positions, blocks = stored(
        items(1, actual_output="x" * (TEXT_CHARS + 5), outcomes={"quality": outcome}, context=["c"] * 20)
    )
    answer = entry(blocks, positions[0][0])["answers"][0]
    assert answer["text"] == ["x" * TEXT_CHARS, 5]
    assert [mark["start"] for mark in answer["fragments"]["quality"]] == [0, TEXT_CHARS - 1]
    assert (len(answer["context"]["chunks"]), answer["context"]["left_out"]) == (16, 4)


def test_half_a_surrogate_pair_of_an_old_record_is_replaced():
    positions, blocks = stored(items(1, actual_output="half \ud83d a pair"))
    assert entry(blocks, positions[0][0])["answers"][0]["text"] == "half � a pair"


def test_an_item_that_was_never_asked_has_no_texts():
    builder = RecordBuilder()
    builder.add("a", "one", {})
    with TextStore() as store:
        item = msgspec.structs.replace(builder.typed_items[0], rows=())
        assert store.add(item, notable=True) == (NOWHERE, NOWHERE)


def test_facts_of_the_service_have_their_labels_and_empty_ones_none():
    [(place, _)], blocks = stored(items(1, served_model="gpt-1", request_id=""))
    assert entry(blocks, place)["answers"][0]["facts"] == {"Model of the service": "gpt-1"}
    [(place, _)], blocks = stored(items(1))
    assert "facts" not in entry(blocks, place)["answers"][0]
