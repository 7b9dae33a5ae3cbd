"""Questions for dates and periods."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.drafts import TEMPORAL, quantity_drafts
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator


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
