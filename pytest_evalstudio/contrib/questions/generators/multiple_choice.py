"""Questions with answers to choose from."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.quantities import (
    Quantity,
    changed,
    other_quantities,
    pattern,
    quantities,
    quantities_and_counts,
    unit_of,
    value_of,
)
from pytest_evalstudio.contrib.questions.rules.conditions import choice_condition, quantity_condition
from pytest_evalstudio.contrib.questions.rules.sentences import sentence_questions
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator

LETTERS = "ABCD"
MIN_WRONG = 2
_MAX_WRONG = 6
_FACTORS = (0.5, 2, 1.5, 3)
_YEARS = (-1, 1, -2, 2, -3)


@generator(
    "multiple_choice",
    name="Multiple choice",
    instruction=(
        "Each question ends with four choices, marked A) B) C) D), of which exactly one is right; the wrong"
        " ones are plausible. The answer is the letter of the right one, a closing parenthesis, and its text,"
        " as in “B) five days”."
    ),
)
@dataclass(frozen=True)
class MultipleChoice:
    """Offer the quantity that a sentence states among others of the same unit."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in excerpt.sentences:
            for item in sentence_questions(sentence, corpus).amounts:
                wrong = _wrong_choices(item.quantity, sentence, corpus)
                if len(wrong) >= MIN_WRONG and _is_single(item):
                    yield _draft(item, wrong, sentence, rng)


def _is_single(item: QuantityQuestion) -> bool:
    """Report whether the answer is one quantity, neither a range nor a rate."""
    text = item.quantity.text
    return (
        len(quantities(text))
        == len(quantities_and_counts(text))
        == 1
        == len(quantities_and_counts(item.answer))
    )


def _draft(item: QuantityQuestion, wrong: list[str], sentence: str, rng: random.Random) -> Draft:
    right = item.quantity.text
    if item.answer.lower() == f"every {right.lower()}":
        right, wrong = f"every {right}", [f"every {other}" for other in wrong]
    choices = [right, *rng.sample(wrong, min(len(LETTERS) - 1, len(wrong)))]
    rng.shuffle(choices)
    letter = LETTERS[choices.index(right)]
    offer = " ".join(f"{mark}) {choice}" for mark, choice in zip(LETTERS, choices, strict=False))
    others = "".join(f" AND NOT {quantity_condition(choice)}" for choice in choices if choice != right)
    return Draft(
        question=f"{item.question} {offer}",
        answer=f"{letter}) {right}",
        condition=f"({choice_condition(letter)} OR {quantity_condition(right)}){others}",
        evidence=sentence,
    )


def _wrong_choices(right: Quantity, sentence: str, corpus: Corpus) -> list[str]:
    """Return other quantities of the same unit, those of the documents first."""
    if right.kind == "date" and re.fullmatch(r"\d{4}", right.text):
        candidates = [str(int(right.text) + years) for years in _YEARS]
    else:
        candidates = [
            other
            for other in other_quantities(right, corpus)
            if unit_of(other) == unit_of(right.text) and _is_comparable(other, right.text)
        ]
        candidates += filter(None, (changed(right.text, factor) for factor in _FACTORS))
    distinct: dict[str, str] = {}
    for other in candidates:
        # Also in another notation: with "5 days" and "five days" two choices would be right.
        is_in_text = any(re.search(pattern(other), text) for text in (sentence, *distinct.values()))
        is_beyond_all = right.kind == "percent" and (value_of(other) or 0.0) > 100
        if not is_in_text and not is_beyond_all:
            distinct.setdefault(other.casefold(), other)
    return list(distinct.values())[:_MAX_WRONG]


def _is_comparable(other: str, right: str) -> bool:
    """Report whether two quantities are of similar size, or both are dates."""
    if right.isdecimal() and not other.isdecimal():
        return False
    first, second = value_of(other), value_of(right)
    if first is None or second is None:
        return first is second
    return second / 5 <= first <= 5 * second
