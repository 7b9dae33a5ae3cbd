"""Highlighting loses no character and shows the worst of what overlaps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.outcomes import Fragment, Metric
from pytest_evalstudio.report.highlight import segments
from support.processor_time import assert_within

METRIC = Metric("score", "Score", threshold=0.5)
SPANS = st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60), st.none() | st.floats(0, 1)), max_size=8)


def fragment(start, end, score=None, **more):
    return Fragment(start=start, end=end, scores={} if score is None else {"score": score}, **more)


@given(st.text(max_size=50), SPANS)
def test_joined_the_stretches_are_the_text(text, spans):
    assert "".join(part.text for part in segments(text, [fragment(*span) for span in spans], METRIC)) == text


def test_neighbours_keep_the_character_between_them():
    parts = segments("One. Two. Three.", [fragment(0, 4, 0.9), fragment(5, 9, 0.1)], METRIC)
    assert [(part.text, part.level) for part in parts] == [
        ("One.", "good"),
        (" ", ""),
        ("Two.", "bad"),
        (" Three.", ""),
    ]
    assert parts[2].note == "Score 0.1"


def test_where_fragments_overlap_the_worst_counts():
    parts = segments(
        "abcdef", [fragment(0, 4, 0.9), fragment(2, 6, 0.1), fragment(3, 5, message="a leak")], METRIC
    )
    assert [(part.text, part.level) for part in parts] == [
        ("ab", "good"),
        ("c", "bad"),
        ("de", "found"),
        ("f", "bad"),
    ]
    assert parts[2].note == "a leak"


def test_lower_is_better_turns_good_and_bad():
    lower = Metric("score", better="lower", threshold=0.5)
    assert [part.level for part in segments("ab", [fragment(0, 1, 0.9), fragment(1, 2, 0.1)], lower)] == [
        "bad",
        "good",
    ]


def test_fragments_of_other_parts_are_left_out():
    entries = [fragment(0, 2, part="context:1"), fragment(2, 4, part="answer")]
    assert [part.level for part in segments("abcd", entries, METRIC, "context:1")] == ["found", ""]


def test_ten_thousand_fragments_take_no_quadratic_time():
    text = "x" * 1_000_000
    entries = [fragment(start, start + 90, 0.1) for start in range(0, 1_000_000, 100)]

    def mark(turn: int) -> None:
        assert len(segments(text[turn:], entries, METRIC)) == 20_000

    assert_within(5, mark)
