"""Questions for what a sentence says of its subject."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.drafts import fact_drafts
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator


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
