"""Questions for dates and periods."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._conditions import says
from pytest_evalstudio.mrm.texts.quantities import Quantity, quantities
from pytest_evalstudio.mrm.texts.statements import inside, stands_alone, statement, with_gap

_FOR_HOW_LONG = re.compile(r"(?P<done>[a-z]+(?:ed|pt)) for (?:at least |up to )?$")


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
    """Dates and periods that a sentence states."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in filter(stands_alone, excerpt.sentences):
            for found in quantities(sentence):
                if found.kind in ("date", "period"):
                    yield Draft(
                        question=_question(sentence, found, corpus),
                        answer=found.text,
                        condition=says(found.text),
                        evidence=sentence,
                    )


def _question(sentence: str, found: Quantity, corpus: Corpus) -> str:
    said = statement(sentence)
    if said is not None and found.kind == "period":
        subject = inside(said.subject, corpus)
        if said.verb in ("takes", "take") and said.rest.startswith(found.text):
            return f"How long {'do' if said.is_plural else 'does'} {subject} take?"
        before = said.rest.partition(found.text)[0]
        if said.verb in ("is", "are") and (match := _FOR_HOW_LONG.fullmatch(before)):
            return f"For how long {said.verb} {subject} {match['done']}?"
    return f"Which {found.kind} is missing here? “{with_gap(sentence, found)}”"
