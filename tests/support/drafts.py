"""Drafts of questions from sentences written by hand."""

from __future__ import annotations

import random

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition

REGISTRY = Registry()
ELSEWHERE = (
    "Closing an account costs £7.00.",
    "The price of a draft is £15.",
    "Records are kept for three years.",
    "The rate is 3% or 4.5%.",
    "The offer ends on 5 June 2027.",
    "You have 10 days.",
    "Tell us within 2 weeks.",
)


def drafts(
    generator: str,
    *sentences: str,
    seed: int = 0,
    other_sentences: tuple[str, ...] = ELSEWHERE,
    pipeline: str = "",
) -> list[Draft]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1")
    corpus = Corpus((excerpt, Excerpt(id="c2", sentences=other_sentences, topic="1")), pipeline)
    return list(REGISTRY.generators.get(generator)().drafts(excerpt, corpus, random.Random(seed)))


def passes(draft: Draft, answer: str) -> bool:
    return bool(parse_condition(draft.condition).check(answer))


def answers(*sentences: str, pipeline: str, title: str) -> dict[str, str]:
    """Return the answers of the clear questions for a section of a document, without its title."""
    excerpt = Excerpt(id="c1", sentences=(title, *sentences), topic="1", title=title)
    corpus = Corpus((excerpt,), pipeline)
    selection = DraftSelection(corpus)
    clear = [
        selection.clear_draft(draft, excerpt)
        for kind in ("numerical_reasoning", "temporal_reasoning", "simple_factual", "yes_or_no")
        for draft in REGISTRY.generators.get(kind)().drafts(excerpt, corpus, random.Random(0))
    ]
    bare = {bare_question(draft.question): draft.answer for draft in clear if draft is not None}
    return {f"{text[0].upper()}{text[1:]}": answer for text, answer in bare.items()}
