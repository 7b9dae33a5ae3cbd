"""Questions for what a sentence says of its subject."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._conditions import says_words
from pytest_evalstudio.mrm.texts.statements import BASES, BE, Statement, inside, statement, telling_words

_ARTICLE = re.compile(r"(?:a|an|the)\s", re.IGNORECASE)


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
    """Ask for the definition, contents or properties of the subject of a sentence."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in excerpt.sentences:
            stated = statement(sentence)
            words = telling_words(stated.rest) if stated is not None else []
            if stated is not None and words:
                yield Draft(
                    question=_question(stated, inside(stated.subject, corpus)),
                    answer=sentence,
                    condition=says_words(words),
                    evidence=sentence,
                )


def _question(stated: Statement, subject: str) -> str:
    if stated.verb in BE and _ARTICLE.match(stated.rest) and stated.verb in ("is", "are"):
        return f"What {stated.verb} {subject}?"
    if stated.verb == "means":
        return f"What does “{_ARTICLE.sub('', subject, count=1)}” mean?"
    if stated.verb in BASES:
        return f"What {'do' if stated.is_plural else 'does'} {subject} {BASES[stated.verb]}?"
    return f"What do the documents say about {subject}?"
