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
            found = statement(sentence)
            words = telling_words(found.rest) if found is not None else []
            if found is not None and words:
                yield Draft(
                    question=_question(found, inside(found.subject, corpus)),
                    answer=sentence,
                    condition=says_words(words),
                    evidence=sentence,
                )


def _question(found: Statement, subject: str) -> str:
    if found.verb in BE and _ARTICLE.match(found.rest) and found.verb in ("is", "are"):
        return f"What {found.verb} {subject}?"
    if found.verb == "means":
        return f"What does “{_ARTICLE.sub('', subject, count=1)}” mean?"
    if found.verb in BASES:
        return f"What {'do' if found.is_plural else 'does'} {subject} {BASES[found.verb]}?"
    return f"What do the documents say about {subject}?"
