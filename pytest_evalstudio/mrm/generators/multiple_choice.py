"""Questions with answers to choose from."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._amounts import amounts_asked
from pytest_evalstudio.mrm.generators._conditions import chooses, says
from pytest_evalstudio.mrm.generators._places import with_counts
from pytest_evalstudio.mrm.texts.quantities import (
    Quantity,
    changed,
    others,
    pattern,
    quantities,
    unit_of,
    value_of,
)

LETTERS = "ABCD"
FEWEST_WRONG = 2
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
            for asked in amounts_asked(sentence, corpus):
                right = asked.quantity
                wrong = _wrong(right, sentence, corpus)
                is_single = len(quantities(right.text)) == len(with_counts(right.text)) == 1
                is_rate = not asked.answer.endswith(right.text)
                if len(wrong) < FEWEST_WRONG or not is_single or is_rate:
                    continue
                choices = [right.text, *rng.sample(wrong, min(len(LETTERS) - 1, len(wrong)))]
                rng.shuffle(choices)
                letter = LETTERS[choices.index(right.text)]
                offered = " ".join(
                    f"{mark}) {choice}" for mark, choice in zip(LETTERS, choices, strict=False)
                )
                yield Draft(
                    question=f"{asked.question} {offered}",
                    answer=f"{letter}) {right.text}",
                    condition=_condition(letter, right.text, choices),
                    evidence=sentence,
                )


def _wrong(right: Quantity, sentence: str, corpus: Corpus) -> list[str]:
    """Return other quantities of the same unit, those of the documents first."""
    alike = [
        other
        for other in others(right, corpus)
        if unit_of(other) == unit_of(right.text) and _is_comparable(other, right.text)
    ]
    if re.fullmatch(r"\d{4}", right.text) and right.kind == "date":
        alike = [str(int(right.text) + years) for years in _YEARS]
    else:
        alike += [other for factor in _FACTORS if (other := changed(right.text, factor))]
    distinct: dict[str, str] = {}
    for other in alike:
        is_known = any(re.search(pattern(other), text) for text in (sentence, *distinct.values()))
        is_share = right.kind == "percent" and (value_of(other) or 0.0) > 100
        if not is_known and not is_share:
            distinct.setdefault(other.casefold(), other)
    return list(distinct.values())[:6]


def _is_comparable(other: str, right: str) -> bool:
    """Report whether two quantities are of similar size, or both are dates."""
    if right.isdecimal() and not other.isdecimal():
        return False
    first, second = value_of(other), value_of(right)
    if first is None or second is None:
        return first is second
    return second / 5 <= first <= 5 * second


def _condition(letter: str, right: str, choices: list[str]) -> str:
    """Return the condition that the answer has the letter or the quantity, and no other quantity."""
    wrong = "".join(f" AND NOT {says(choice)}" for choice in choices if choice != right)
    return f"({chooses(letter)} OR {says(right)}){wrong}"
