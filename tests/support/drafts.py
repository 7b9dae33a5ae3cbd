"""Drafts of questions from sentences written by hand."""

from __future__ import annotations

import random

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
    elsewhere: tuple[str, ...] = ELSEWHERE,
    pipeline: str = "",
) -> list[Draft]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1")
    corpus = Corpus((excerpt, Excerpt(id="c2", sentences=elsewhere, topic="1")), pipeline)
    return list(REGISTRY.generators.get(generator)().drafts(excerpt, corpus, random.Random(seed)))


def passes(draft: Draft, answer: str) -> bool:
    return bool(parse_condition(draft.condition).check(answer))
