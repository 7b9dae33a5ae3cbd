"""Questions that are answered by yes or no."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._conditions import begins_with
from pytest_evalstudio.mrm.texts.quantities import others, quantities
from pytest_evalstudio.mrm.texts.statements import BASES, BE, MODALS, Statement, inside, statement


@generator(
    "yes_or_no",
    name="Yes or no",
    instruction=(
        "Each question can be answered by yes or no. Of two questions one is to be answered by yes, the other"
        " by no. The answer begins with “Yes.” or “No.” and gives the reason in one sentence."
    ),
)
@dataclass(frozen=True)
class YesOrNo:
    """Ask for confirmation of a statement as it is (yes), or with another quantity of the documents (no)."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in excerpt.sentences:
            stated = statement(sentence)
            if stated is None or stated.is_negative:
                continue
            rest, answer = stated.rest, "Yes"
            amounts = quantities(rest)
            false = others(amounts[0], corpus) if amounts else []
            if false and rng.random() < 0.5:
                rest = rest[: amounts[0].start] + rng.choice(false) + rest[amounts[0].end :]
                answer = "No"
            yield Draft(
                question=_question(stated, inside(stated.subject, corpus), rest),
                answer=f"{answer}. {sentence}",
                condition=begins_with(answer),
                evidence=sentence,
            )


def _question(stated: Statement, subject: str, rest: str) -> str:
    if stated.verb in (*BE, *MODALS):
        return f"{stated.verb.capitalize()} {subject} {rest}?"
    return f"{'Do' if stated.is_plural else 'Does'} {subject} {BASES[stated.verb]} {rest}?"
