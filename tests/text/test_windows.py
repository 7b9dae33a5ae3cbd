"""Windows around the changes of an answer."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.analysis.comparison.markdown import windows_markdown
from pytest_evalstudio.text.windows import CHANGE_CHARS, WINDOW_CHARS, change_windows, word_diff

PADDING = "The tariff lists the charges of every account in alphabetical order. " * 40


def sides(pieces):
    """Return both texts that the pieces make."""
    return (
        "".join(piece.text for piece in pieces if piece.kind in ("same", "removed")),
        "".join(piece.text for piece in pieces if piece.kind in ("same", "added")),
    )


def test_a_change_in_the_middle_of_a_long_answer_has_a_window_and_gaps_with_their_words():
    pieces = change_windows(PADDING + "It costs £15.00. " + PADDING, PADDING + "It costs £22.00. " + PADDING)
    kinds = [piece.kind for piece in pieces]
    assert kinds == ["gap", "same", "removed", "added", "same", "gap"]
    assert (pieces[2].text, pieces[3].text) == ("15.00", "22.00")
    assert len(pieces[1].text) <= WINDOW_CHARS / 2 + 1
    assert pieces[1].text.endswith("It costs £")
    word_count = len((pieces[1].text + pieces[4].text).split())
    assert pieces[0].words + pieces[5].words + word_count == 2 * len(PADDING.split()) + 3
    assert pieces[0].note == f"… {pieces[0].words} words unchanged …"


def test_windows_are_cut_between_words():
    pieces = change_windows(PADDING + "old", PADDING + "new")
    assert pieces[1].text.split()[0] in PADDING.split()


def test_two_changes_far_apart_have_a_gap_between_them():
    base = "A fee of 5 EUR. " + PADDING + "It is due in May."
    new = "A fee of 7 EUR. " + PADDING + "It is due in June."
    text = word_diff(change_windows(base, new))
    assert text.startswith("A fee of [-5-]{+7+} EUR. ")
    assert text.endswith("It is due in [-May-]{+June+}.")
    assert text.count("words unchanged") == 1
    assert len(text) < 400


def test_a_short_answer_is_shown_as_a_whole():
    assert word_diff(change_windows("The fee is 5 EUR.", "The fee is 7 EUR.")) == "The fee is [-5-]{+7+} EUR."


def test_an_added_end_is_one_change():
    assert word_diff(change_windows("Yes.", "Yes. But ask first.")) == "Yes.{+ But ask first.+}"


def test_equal_texts_have_no_change():
    assert [piece.kind for piece in change_windows(PADDING, PADDING)] == ["same"]


def test_moved_words_of_long_answers_are_found():
    words = [f"w{number}" for number in range(600)]
    moved = [*words[:100], *words[101:500], words[100], *words[500:]]
    pieces = change_windows(" ".join(words), " ".join(moved))
    assert sum(len(piece.text) for piece in pieces if piece.kind in ("removed", "added")) < 30


@given(st.text(max_size=300), st.text(max_size=300))
def test_all_pieces_together_are_both_texts(base, new):
    assert sides(change_windows(base, new, chars=0)) == (base, new)


def test_random_edits_are_found_at_their_places():
    rng = random.Random(7)
    words = [f"word{rng.randrange(200)}" for _ in range(700)]
    for _ in range(20):
        place = rng.randrange(700)
        edited = [*words[:place], "EDIT", *words[place + 1 :]]
        pieces = change_windows(" ".join(words), " ".join(edited))
        assert [piece.text for piece in pieces if piece.kind == "added"] == ["EDIT"]
        assert [piece.text for piece in pieces if piece.kind == "removed"] == [words[place]]


def test_markdown_has_the_same_windows_with_marks_apart_from_words():
    pieces = change_windows(PADDING + "It costs £15.00, today.", PADDING + "It costs £22.00, today.")
    text = windows_markdown(pieces)
    assert text.startswith(f"*{pieces[0].note}* ")
    assert text.endswith("It costs £ ~~15.00~~ **22.00**, today.")


def test_a_long_change_shows_its_first_words_and_how_many_follow():
    new = "The fee is " + " ".join(f"w{number}" for number in range(200)) + " EUR."
    pieces = change_windows("The fee is 5 EUR.", new)
    added = [piece for piece in pieces if piece.kind == "added"]
    gaps = [piece for piece in pieces if piece.kind == "gap"]
    assert [len(piece.text) <= CHANGE_CHARS for piece in added] == [True]
    assert len(added[0].text.split()) + gaps[0].words == 200
    assert gaps[0].note == f"… {gaps[0].words} more words …"
    assert "more words …" in word_diff(pieces)


def test_changes_with_only_white_space_between_are_one_change():
    pieces = change_windows("the old red door", "the new blue door")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("same", "the "),
        ("removed", "old red"),
        ("added", "new blue"),
        ("same", " door"),
    ]


def test_few_unchanged_words_between_windows_are_shown():
    """A window has 10 characters on each side; of the middle, seven words would be left out."""
    middle = " ".join(["aaa"] * 5 + ["word"] * 7 + ["bbb"] * 5)
    base, new = f"x {middle} y", f"X {middle} Y"
    kinds = [piece.kind for piece in change_windows(base, new, chars=20)]
    assert "gap" in kinds
    assert "gap" not in [piece.kind for piece in change_windows("x a b c y", "X a b c Y", chars=2)]


def test_a_change_of_one_long_word_is_cut_nowhere():
    pieces = change_windows("a", "b" * 1_000)
    assert [piece.text for piece in pieces if piece.kind == "added"] == ["b" * 1_000]


def test_texts_without_a_common_word_are_replaced_as_a_whole():
    base, new = " ".join(["a", "b"] * 100), " ".join(["c", "d"] * 100)
    pieces = change_windows(base, new, chars=0)
    assert [(piece.kind, piece.text) for piece in pieces] == [("removed", base), ("added", new)]


def test_numbers_and_marks_are_words_of_their_own():
    assert word_diff(change_windows("1,000.50 EUR (a)", "1,000.75 EUR [a]")) == (
        "[-1,000.50-]{+1,000.75+} EUR [-(-]{+[+}a[-)-]{+]+}"
    )
