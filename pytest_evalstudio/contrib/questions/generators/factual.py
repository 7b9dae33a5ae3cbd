"""Questions for the quantities and facts that a sentence or table states."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.drafts import NUMERICAL, TEMPORAL, fact_drafts, quantity_drafts
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


@generator(
    "simple_factual",
    name="Simple factual",
    instruction=(
        "Each question asks for one plain fact that the excerpt states: what something is, does, covers,"
        " costs or requires."
    ),
)
@dataclass(frozen=True)
class SimpleFactual:
    """Ask for persons, places, times, frequencies, conditions, lists and cells of words."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Return drafts of questions on an excerpt."""
        return fact_drafts(excerpt, corpus)


@generator(
    "temporal_reasoning",
    name="Temporal reasoning",
    instruction=(
        "Each question is about time: when something happens, how long it takes, what comes first, by when"
        " something must be done. The answer is the date or period and nothing else."
    ),
)
@dataclass(frozen=True)
class TemporalReasoning:
    """Ask for dates, periods and frequencies that a sentence or table states."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Return drafts of questions on an excerpt."""
        return quantity_drafts(excerpt, corpus, TEMPORAL)
