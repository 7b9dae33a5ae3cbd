"""Questions with answers to choose from."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._conditions import chooses, says
from pytest_evalstudio.mrm.texts.quantities import others, quantities
from pytest_evalstudio.mrm.texts.statements import stands_alone, with_gap

LETTERS = "ABCD"
FEWEST_WRONG = 2


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
    """A quantity that a sentence states, among others of its kind that stand elsewhere in the documents."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in filter(stands_alone, excerpt.sentences):
            stated = quantities(sentence)
            if len(stated) != 1:
                continue
            wrong = others(stated[0], corpus)
            if len(wrong) < FEWEST_WRONG:
                continue
            choices = [stated[0].text, *rng.sample(wrong, min(len(LETTERS) - 1, len(wrong)))]
            rng.shuffle(choices)
            letter = LETTERS[choices.index(stated[0].text)]
            offered = " ".join(f"{mark}) {choice}" for mark, choice in zip(LETTERS, choices, strict=False))
            yield Draft(
                question=f"Which is right? “{with_gap(sentence, stated[0])}” {offered}",
                answer=f"{letter}) {stated[0].text}",
                condition=_condition(letter, stated[0].text, choices),
                evidence=sentence,
            )


def _condition(letter: str, right: str, choices: list[str]) -> str:
    """The letter or the quantity, and no other one of the quantities."""
    wrong = "".join(f" AND NOT {says(choice)}" for choice in choices if choice != right)
    return f"({chooses(letter)} OR {says(right)}){wrong}"
