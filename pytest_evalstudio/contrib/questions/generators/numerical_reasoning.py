"""Questions for amounts, shares and other numbers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.drafts import NUMERICAL, quantity_drafts
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator


@generator(
    "numerical_reasoning",
    name="Numerical reasoning",
    instruction=(
        "Each question asks for a number that the excerpt states. The answer is the number with its unit and"
        " nothing else."
    ),
)
@dataclass(frozen=True)
class NumericalReasoning:
    """Ask for amounts, shares, measures and other numbers that a sentence or table states."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Return drafts of questions on an excerpt."""
        return quantity_drafts(excerpt, corpus, NUMERICAL)
