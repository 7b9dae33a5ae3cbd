"""Questions for what a sentence says of its subject."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._fact import keywords
from pytest_evalstudio.mrm.generators._facts import facts_asked
from pytest_evalstudio.mrm.generators._tables import meanings_asked
from pytest_evalstudio.mrm.texts.statements import without_number


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
    """Ask for definitions, meanings, persons, lists, reasons and other facts of a sentence."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in excerpt.sentences:
            for fact in facts_asked(sentence, corpus):
                yield Draft(
                    question=fact.question,
                    answer=without_number(sentence),
                    condition=fact.condition,
                    evidence=sentence,
                )
            for question, meaning in meanings_asked(sentence):
                if condition := keywords(meaning):
                    yield Draft(question=question, answer=meaning, condition=condition, evidence=sentence)
