"""Names that a run has found are masked in all texts, whatever is between their words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from pytest_evalstudio.metrics.detectors import known_values, redact
from support.processor_time import assert_linear


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    known_values.forget()
    yield
    known_values.forget()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Ask Jane Doe.", "Ask **** ***."),
        ("Jane\nDoe", "****\n***"),
        ("Jane, Doe", "****, ***"),
        ("Jane Does nothing", "Jane Does nothing"),
        ("jane doe", "jane doe"),
        ("Jane of Doe", "Jane of Doe"),
        ("Jane Doe Jane Doe", "**** *** **** ***"),
        ("MaryJane Doe", "MaryJane Doe"),
        ("Jane    Doe", "Jane    Doe"),
        ("", ""),
    ],
)
def test_a_value_is_masked_as_a_sequence_of_words(text: str, masked: str) -> None:
    known_values.remember(["Jane Doe"])
    assert redact(text) == masked
    assert len(redact(text)) == len(text)


def test_the_longest_value_is_masked() -> None:
    known_values.remember(["New York", "New York City", "York"])
    assert redact("In New York City, New York and York.") == "In *** **** ****, *** **** and ****."


def test_texts_that_were_masked_before_are_masked_again() -> None:
    assert redact("It was Zoë.") == "It was Zoë."
    known_values.remember(["Zoë's"])
    assert redact("It was Zoë.") == "It was ***."


def test_parts_of_names_are_masked_but_function_words() -> None:
    known_values.remember_parts(["Will van Halen"])
    assert redact("Will he ask van or Halen?") == "Will he ask van or *****?"


def test_what_has_no_two_letters_is_no_value() -> None:
    known_values.remember(["", " ", "-", "A", "..."])
    assert redact("A - ... b") == "A - ... b"


def test_old_values_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_values, "MAX_VALUES", 2)
    known_values.remember(["Jane Doe", "Jane Roe", "John Roe"])
    assert redact("Jane Doe, Jane Roe, John Roe") == "Jane Doe, **** ***, **** ***"


def test_masking_takes_linear_time() -> None:
    known_values.remember(f"Jane {'Doe ' * count}" for count in range(1, 11))
    assert_linear(
        lambda count: partial(known_values.mask_known, "Jane Doe and Jane " * count), 1_000, times=16
    )


def test_a_text_that_was_masked_before_is_masked_anew() -> None:
    text = "Ottilie Quastenflosser wrote to us."
    assert redact(text) == text
    known_values.remember(["Ottilie Quastenflosser"])
    assert redact(text) == "******* ************** wrote to us."
    known_values.forget()
    assert redact(text) == text
