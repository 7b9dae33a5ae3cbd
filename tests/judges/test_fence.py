"""The fence around what is judged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.judges.fence import fence_mark, fenced, on_lines_of_their_own


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
    assert (
        len(
            {
                fence_mark(["a", "b"]),
                fence_mark(["ab"]),
                fence_mark(["a", "b"], "claims"),
                fence_mark(["", "ab"]),
            }
        )
        == 4
    )


def test_a_surrogate_without_its_other_half_can_be_fenced() -> None:
    assert fenced("answer", "\ud800", fence_mark(["\ud800"])).count("\n") == 2


@given(st.text(" \t\na"), st.text(" \t\na"), st.text(" \t\na"))
def test_fences_stand_alone_on_their_lines_and_what_they_hold_stays(
    before: str, text: str, after: str
) -> None:
    prompt = on_lines_of_their_own(f"{before}{fenced('answer', text, 'c0ffee')}{after}", "c0ffee")
    assert f"<<<c0ffee answer\n{text}\nc0ffee>>>" in prompt
    lines = prompt.split("\n")
    assert "<<<c0ffee answer" in lines
    assert "c0ffee>>>" in lines
    assert prompt.split() == f"{before} <<<c0ffee answer {text} c0ffee>>> {after}".split()
