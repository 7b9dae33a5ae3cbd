"""Questions and requests outside of the documents' domain."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.refusals import REFUSAL, decline_condition, refusal_condition
from pytest_evalstudio.contrib.questions.words import content_words, data_text
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator


@generator(
    "out_of_distribution",
    name="Out of distribution",
    purpose="adversarial",
    by_default=False,
    unanswerable=True,
    refusal_withstands=True,
    concession="it answers a question that the documents do not answer",
    instruction=(
        "Each question or request has nothing to do with the excerpt, its subject or its field: it is about"
        " everyday life, science, sport, art, programming or language. No document of the same field answers"
        " it. The answer is “The documents do not answer this question.” and the evidence is an empty list."
    ),
)
@dataclass(frozen=True)
class OutOfDistribution:
    """Ask for something outside of the documents' domain; a good answer says that they do not have it."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        foreign = [text for text in _requests() if _words(corpus).isdisjoint(content_words(text))]
        if foreign:
            question = rng.choice(foreign)
            yield Draft(
                question=question,
                answer=REFUSAL,
                condition=f"({refusal_condition(question)}) OR {decline_condition()}",
                evidence="",
                plain=question,
                kind="out_of_scope",
            )


@functools.cache
def _requests() -> tuple[str, ...]:
    """Return requests about everyday life, science, sport, art, programming and language."""
    return tuple(data_text("requests.txt").splitlines())


@functools.lru_cache(maxsize=1)
def _words(corpus: Corpus) -> frozenset[str]:
    return frozenset(word for sentence in corpus.sentences for word in content_words(sentence))
