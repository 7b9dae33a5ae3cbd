"""Questions that the documents do not answer."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.mrm.texts.words import content_words

ANSWER = "The documents do not answer this question."
REFUSES = str(
    Regexp(
        r"(?i)\b(?:(?:do|does|did|is|are|was|were|can|could)(?: ?not|n['’]t)|cannot|unable|no"
        r" (?:information|answer|mention|details?)|not"
        r" (?:in|part of|covered|mentioned|contained|available|found|know|have)|nothing)\b"
    )
)
QUESTIONS = (
    "What is the melting point of tungsten?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How many moons does Neptune have?",
    "Which enzyme breaks down lactose?",
    "What is the capital of Mongolia?",
    "Who composed the opera Carmen?",
    "How far does a marathon runner run?",
    "Which gas do plants absorb during photosynthesis?",
    "What is the chemical symbol of potassium?",
    "Who wrote the novel Middlemarch?",
    "In which ocean does Madagascar lie?",
    "How many strings does a cello have?",
    "Which planet has the shortest orbit?",
    "What is the national bird of Ecuador?",
    "Who discovered penicillin?",
    "How deep is the Mariana Trench?",
    "Which desert spreads over Botswana?",
    "What do entomologists study?",
    "Who won the chess championship of 1972?",
    "Which metal is liquid at ambient temperature?",
    "How many chambers does a mammal heart have?",
    "What is the boiling point of ethanol?",
    "Which river flows through Baghdad?",
    "Who invented the mechanical loom?",
)


@generator(
    "out_of_scope",
    name="Out of scope",
    unanswerable=True,
    instruction=(
        "Each question is one that a reader of the excerpt might well ask next, near its subject, and that"
        " the excerpt does not answer. Ask for something so specific that no other page of the same documents"
        " is likely to answer it either. The answer is “The documents do not answer this question.” and the"
        " evidence is an empty list."
    ),
)
@dataclass(frozen=True)
class OutOfScope:
    """Ask for general knowledge that is not in the documents; a good answer says so."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        foreign = [
            question
            for question in QUESTIONS
            if len(corpus_words(corpus).intersection(content_words(question))) <= 1
        ]
        if foreign:
            yield Draft(question=rng.choice(foreign), answer=ANSWER, condition=REFUSES, evidence="")


@functools.lru_cache(maxsize=1)
def corpus_words(corpus: Corpus) -> frozenset[str]:
    """Return the content words of all documents."""
    return frozenset(word for sentence in corpus.sentences for word in content_words(sentence))
