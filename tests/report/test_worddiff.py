"""Differences of texts by words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.report.worddiff import changed_words


def marked(stretches):
    return [stretch.text for stretch in stretches if stretch.changed]


def test_a_price_is_one_word():
    expected, answer = changed_words("It costs £5.00, in advance.", "It costs £8.00, in advance.")
    assert (marked(expected), marked(answer)) == (["5.00"], ["8.00"])


def test_neighbouring_words_are_marked_together():
    expected, _ = changed_words("payable in advance.", "payable later.")
    assert marked(expected) == ["in advance"]


def test_the_order_of_words_counts_in_short_texts():
    base, _ = changed_words("first then second", "second then first")
    assert marked(base)


def test_long_texts_are_compared_by_their_words():
    words = [f"w{number}" for number in range(500)]
    base, other = changed_words(" ".join(words), " ".join([*reversed(words), "extra"]))
    assert (marked(base), marked(other)) == ([], ["extra"])


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_character_is_lost(base, other):
    first, second = changed_words(base, other)
    assert "".join(stretch.text for stretch in first) == base
    assert "".join(stretch.text for stretch in second) == other


@given(st.text(max_size=300))
def test_equal_texts_have_no_difference(text):
    first, second = changed_words(text, text)
    assert not marked(first)
    assert not marked(second)
