"""The fence around what is judged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.judges.fence import fence_mark, fenced


@given(st.lists(st.text(), max_size=4))
def test_a_mark_stands_in_no_text_that_it_fences(texts: list[str]) -> None:
    mark = fence_mark(texts)
    assert len(mark) == 32
    assert not any(mark in text for text in texts)


def test_a_text_that_holds_the_mark_of_another_text_gets_another_mark() -> None:
    mark = fence_mark(["an answer"])
    assert fence_mark([f"an answer {mark}"]) != mark


def test_the_mark_is_the_same_in_every_run_so_that_verdicts_can_be_stored() -> None:
    assert fence_mark(["a", "b"], "claims") == fence_mark(["a", "b"], "claims")
    assert len({fence_mark(["a", "b"]), fence_mark(["ab"]), fence_mark(["a", "b"], "claims"), fence_mark(["", "ab"])}) == 4


def test_a_surrogate_without_its_other_half_can_be_fenced() -> None:
    assert fenced("answer", "\ud800", fence_mark(["\ud800"])).count("\n") == 2
