"""A baseline of a record: its items, and what is left out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.analysis.comparison.baseline import opened, save
from pytest_evalstudio.record.reader import RecordReader
from support.records import RecordBuilder


@pytest.mark.parametrize(("with_answers", "answer"), [(True, "the actual"), (False, "")])
def test_all_items_are_saved_and_counted(tmp_path: Path, with_answers: bool, answer: str) -> None:
    builder = RecordBuilder()
    builder.add("a")
    builder.add("b")
    target = tmp_path / "baseline.jsonl"

    count = save(RecordReader(builder.write(tmp_path)), target, saved="2026-11-20", with_answers=with_answers)

    assert count == 2
    with opened(target) as reader:
        items = list(reader.items())
        assert reader.run.baseline is not None
        assert reader.run.baseline.has_answers is with_answers
    assert [item.key for item in items] == ["a", "b"]
    assert [item.rows[0].answer.text for item in items] == [answer, answer]
    assert [item.rows[0].question for item in items] == ["What about a?", "What about b?"]
