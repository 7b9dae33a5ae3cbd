"""Questions with answers to choose from."""

from __future__ import annotations

import re

from support.drafts import drafts, passes
from support.pipelines import PIPELINE, needs_pipeline


def test_multiple_choice() -> None:
    (draft,) = drafts("multiple_choice", "A banker's draft costs £12.00.")
    assert draft.question.startswith("How much does a banker's draft cost? A) ")
    assert {f" {letter}) " in draft.question for letter in "ABCD"} == {True}
    letter, right = draft.answer.split(") ")
    assert right == "£12.00"
    assert f"{letter}) £12.00" in draft.question
    assert passes(draft, letter)
    assert passes(draft, "It costs £12.")
    assert all(
        passes(draft, text)
        for text in (f"{letter}.", f"({letter.lower()}) £12.00", f"{letter}: twelve pounds")
    )
    assert not passes(draft, f"{letter} draft is free of charge.")
    assert not passes(draft, next(other for other in "ABCD" if other != letter))


def test_choices_are_of_the_unit_and_size_of_the_answer() -> None:
    other_sentences = (
        "A bridge costs £4 million.",
        "A pen costs £15.",
        "A card costs £9.",
        "It lasts 12 days.",
    )
    (draft,) = drafts("multiple_choice", "A banker's draft costs £12.00.", other_sentences=other_sentences)
    assert "million" not in draft.question
    assert "days" not in draft.question


@needs_pipeline
def test_the_choices_of_a_count_are_whole_numbers() -> None:
    other_sentences = ("The version is 3.2.", "Passwords expire after 3.6 months.")
    sentence = "Passwords must contain 14 characters."
    (draft,) = drafts("multiple_choice", sentence, other_sentences=other_sentences, pipeline=PIPELINE)
    assert "." not in draft.question


def test_the_choices_of_a_year_are_years_near_it() -> None:
    (draft,) = drafts("multiple_choice", "The society was founded in 2024.")
    years = re.findall(r"[A-D]\) (\S+)", draft.question)
    assert "2024" in years
    assert all(abs(int(year) - 2024) <= 5 for year in years)


def test_a_frequency_has_no_choices() -> None:
    assert drafts("multiple_choice", "The committee meets four times a year.") == []
