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
            found = statement(sentence)
            if found is None or found.is_negative:
                continue
            rest, answer = found.rest, "Yes"
            stated = quantities(rest)
            false = others(stated[0], corpus) if stated else []
            if false and rng.random() < 0.5:
                rest = rest[: stated[0].start] + rng.choice(false) + rest[stated[0].end :]
                answer = "No"
            yield Draft(
                question=_question(found, inside(found.subject, corpus), rest),
                answer=f"{answer}. {sentence}",
                condition=begins_with(answer),
                evidence=sentence,
            )


def _question(found: Statement, subject: str, rest: str) -> str:
    if found.verb in (*BE, *MODALS):
        return f"{found.verb.capitalize()} {subject} {rest}?"
    return f"{'Do' if found.is_plural else 'Does'} {subject} {BASES[found.verb]} {rest}?"
