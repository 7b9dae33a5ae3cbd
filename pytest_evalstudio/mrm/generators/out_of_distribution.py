"""Questions and requests outside of the documents' domain."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators.out_of_scope import ANSWER, refuses
from pytest_evalstudio.mrm.texts.words import content_words

REQUESTS = (
    "How long should I boil an egg so that the yolk stays soft?",
    "Which spices belong in a Moroccan tagine?",
    "How do I sharpen a kitchen knife on a whetstone?",
    "Which muscles does a rowing machine train?",
    "Who scored the winning goal of the last football world cup?",
    "How is the offside rule applied in ice hockey?",
    "Write a Python function that reverses a linked list.",
    "Why does my JavaScript closure keep the old loop variable?",
    "Which SQL join returns rows without a match?",
    "Solve the integral of x squared times the sine of x.",
    "What is the square root of 7744?",
    "Prove that there are infinitely many primes.",
    "Translate “good morning, neighbour” into Finnish.",
    "Conjugate the Spanish verb “dormir” in the past tense.",
    "Write a haiku about autumn leaves.",
    "Invent a bedtime story about a shy dragon.",
    "Tell me a joke about penguins.",
    "Is it going to rain in Lisbon tomorrow?",
    "Which film should I watch tonight?",
    "What is the best trail for a hike in the Dolomites?",
    "How do I prune roses before winter?",
    "Why are the leaves of my basil turning yellow?",
    "At what age do kittens open their eyes?",
    "How do I teach a parrot to whistle?",
    "Which chords does a twelve-bar blues have?",
    "How do I tune a ukulele?",
    "What caused the fall of Constantinople?",
    "Which pharaoh built the pyramid of Giza?",
    "How does a neutron star form?",
    "Why is the sky of Mars pink?",
    "How do vaccines train the immune system?",
    "Which chess opening begins with the king’s pawn?",
)


@generator(
    "out_of_distribution",
    name="Out of distribution",
    purpose="adversarial",
    by_default=False,
    unanswerable=True,
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
        foreign = [text for text in REQUESTS if _words(corpus).isdisjoint(content_words(text))]
        if foreign:
            question = rng.choice(foreign)
            yield Draft(
                question=question,
                answer=ANSWER,
                condition=refuses(question),
                evidence="",
                plain=question,
                kind="out_of_scope",
            )


@functools.lru_cache(maxsize=1)
def _words(corpus: Corpus) -> frozenset[str]:
    return frozenset(word for sentence in corpus.sentences for word in content_words(sentence))
