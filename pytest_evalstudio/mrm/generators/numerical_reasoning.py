"""Questions for amounts, shares and other numbers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._conditions import says
from pytest_evalstudio.mrm.texts.quantities import Quantity, quantities
from pytest_evalstudio.mrm.texts.statements import inside, stands_alone, statement, with_gap


@generator(
    "numerical_reasoning",
    name="Numerical reasoning",
    instruction=(
        "Each question asks for a number: one that the excerpt states, or one that follows from its numbers"
        " by a short calculation. The answer is the number with its unit and nothing else."
    ),
)
@dataclass(frozen=True)
class NumericalReasoning:
    """Amounts, shares and other numbers that a sentence states."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in filter(stands_alone, excerpt.sentences):
            for found in quantities(sentence):
                if found.kind in ("money", "percent", "number"):
                    yield Draft(
                        question=_question(sentence, found, corpus),
                        answer=found.text,
                        condition=says(found.text),
                        evidence=sentence,
                    )


def _question(sentence: str, found: Quantity, corpus: Corpus) -> str:
    said = statement(sentence)
    if (
        said is not None
        and said.verb in ("costs", "cost")
        and said.rest.startswith(found.text)
        and len(quantities(said.rest)) == 1
    ):
        return f"How much {'do' if said.is_plural else 'does'} {inside(said.subject, corpus)} cost?"
    return f"Which number is missing here? “{with_gap(sentence, found)}”"
