"""Steps of procedures: extraction, comparison, alignment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.steps import align, find_steps, likeness, merged
from pytest_evalstudio.text.sentences import split_sentences


def steps(text: str) -> list[str]:
    return [step.text for step in find_steps(text, split_sentences)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "1. Open\n2) Choose\n(3) Pay\n10. Leave", ["Open", "Choose", "Pay", "Leave"], id="numbers"
        ),
        pytest.param("- Open\n* Choose\n• Pay", ["Open", "Choose", "Pay"], id="bullets"),
        pytest.param("a) Open\n(b) Choose\nB) Pay", ["Open", "Choose", "Pay"], id="letters"),
        pytest.param(
            "Step 1: Open\n**Step 2:** Choose\nstep 3 - Pay", ["Open", "Choose", "Pay"], id="the word step"
        ),
        pytest.param("1. Open\n   the app\n2. Choose", ["Open the app", "Choose"], id="indented lines go on"),
        pytest.param("1. Open\nThat is all.\n\n2. Choose", ["Open", "Choose"], id="other lines do not"),
        pytest.param(
            "1) Open it, 2) choose one, 3) pay", ["Open it,", "choose one,", "pay"], id="within a line"
        ),
        pytest.param(
            "Open the app. It is blue. Then choose a card.",
            ["Open the app.", "choose a card."],
            id="imperatives",
        ),
        pytest.param(
            "First, open it.\nAnd then, finally, please pay.",
            ["open it.", "pay."],
            id="connectives are left out",
        ),
        pytest.param(
            "To pay:\n- Open it\n\nAfter that, confirm the payment.",
            ["Open it", "confirm the payment."],
            id="a list, then prose",
        ),
        pytest.param("Open at nine? The fee rose by 5. It is 12. Banks pay 1.5 million.", [], id="no steps"),
        pytest.param(
            "A. Smith said no.\n— He left.\n---\n* * *\n1.5 million", [], id="what only looks like a list"
        ),
        pytest.param(
            "1. 東京へ行く\n2. Открыть приложение\n3. 👍\n4. افتح التطبيق",
            ["東京へ行く", "Открыть приложение", "افتح التطبيق"],
            id="scripts",
        ),
        pytest.param("", [], id="nothing"),
    ],
)
def test_steps_are_found_by_rules(text: str, expected: list[str]) -> None:
    assert steps(text) == expected


def test_a_step_knows_where_it_stands() -> None:
    text = "Do this:\n 1. Then  open\n    the app \n2. Pay"
    assert [text[step.start : step.end] for step in find_steps(text, split_sentences)] == [
        "open\n    the app",
        "Pay",
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Open the app", "Open the app", "exact"),
        ("Open the app.", "Open - the app", "punctuation"),
        ("Open the app.", "open THE app", "case"),
        ("Open the app.", "open an app!", "articles"),
        ("Choose the colour", "choose a color.", "spelling"),
        ("Pay now", "Pay not", "spelling"),
        ("Pay", "Say", "mismatch"),
        ("Open the app", "Close the bank account", "mismatch"),
        ("!!", "??", "mismatch"),
        ("x" * 501, "x" * 500 + "y", "mismatch"),
    ],
)
def test_the_ladder_of_likeness(first: str, second: str, expected: str) -> None:
    assert likeness(first, second) == likeness(second, first) == expected


@pytest.mark.parametrize(
    ("truth", "actual", "expected"),
    [
        pytest.param("abc", "abc", "=== ", id="the same"),
        pytest.param("abc", "bc", "+==", id="the first is missing"),
        pytest.param("abc", "ac", "=+=", id="the middle is missing"),
        pytest.param("ab", "axb", "=-=", id="one too many"),
        pytest.param("abc", "axc", "=x=", id="another one"),
        pytest.param("abc", "acb", "=+=-", id="a swap is one in, one out"),
        pytest.param("abcd", "dabc", "-===+", id="the last comes first"),
        pytest.param("", "ab", "--", id="nothing is asked"),
        pytest.param("ab", "", "++", id="nothing is there"),
        pytest.param("aab", "ab", "+==", id="a repeat is missing"),
        pytest.param("", "", "", id="nothing at all"),
    ],
)
def test_alignment_by_hand(truth: str, actual: str, expected: str) -> None:
    signs = {"match": "=", "mismatch": "x", "insertion": "+", "deletion": "-"}
    aligned = align(list(truth), list(actual))
    result = "".join(signs[step.edit] for step in aligned)
    assert sorted(result) == sorted(expected.strip())
    assert [step.truth for step in aligned if step.truth is not None] == list(range(len(truth)))
    assert [position.actual for position in aligned if position.actual is not None] == list(
        range(len(actual))
    )


@given(st.text("abc ", min_size=1, max_size=12), st.text("abc ", min_size=1, max_size=12))
def test_spelling_is_less_than_an_edit_per_three_signs(first: str, second: str) -> None:
    from nltk import edit_distance

    first_text, second_text = " ".join(first.split()), " ".join(second.split())
    result = likeness(first_text, second_text)
    if result in ("spelling", "mismatch"):
        texts = [" ".join(word for word in text.split() if word != "a") for text in (first_text, second_text)]
        distance, shorter = edit_distance(*texts), min(map(len, texts))
        assert (result == "spelling") == (shorter > 0 and shorter / distance > 3)


@given(st.text("abcd", max_size=9), st.text("abcd", max_size=9))
def test_edits_are_the_distance_of_levenshtein_and_symmetric(truth: str, actual: str) -> None:
    from nltk import edit_distance

    forward, backward = align(list(truth), list(actual)), align(list(actual), list(truth))
    count = sum(step.edit != "match" for step in forward)
    assert count == edit_distance(truth, actual)
    assert count == sum(step.edit != "match" for step in backward)
    assert sum(step.edit == "insertion" for step in forward) == sum(
        step.edit == "deletion" for step in backward
    )


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=6), max_size=5))
def test_parts_are_merged_as_by_comparing_every_position(parts: list[list[str]]) -> None:
    joined: list[str] = []
    for part in parts:
        if any(joined[start : start + len(part)] == part for start in range(len(joined) + 1)):
            continue
        shared = max(size for size in range(len(part) + 1) if joined[len(joined) - size :] == part[:size])
        joined += part[shared:]

    assert merged(parts) == joined
