"""Mistakes of grammar that people make when they write in a hurry or in a foreign language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._replacing import pattern_of, replaced

MISTAKES = {
    "a": "",
    "an": "",
    "the": "",
    "is": "are",
    "are": "is",
    "was": "were",
    "were": "was",
    "has": "have",
    "does": "do",
    "doesn't": "don't",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "much": "many",
    "many": "much",
    "their": "there",
    "there": "their",
    "its": "it's",
    "your": "you're",
    "than": "then",
    "too": "to",
    "who": "whom",
    "costs": "cost",
    "needs": "need",
    "went": "gone",
    "seen": "saw",
    "better": "more better",
    "fewer": "less",
}
"""Correct word, and what a mistake makes of it."""

_pattern = lru_cache(maxsize=1)(lambda: pattern_of(MISTAKES))


@perturbator("grammar_mistake", name="Grammar mistakes")
@dataclass(frozen=True)
class GrammarMistake:
    """Makes 30, 60 or 100 % of the possible mistakes: articles, agreement, homophones; English only."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        return replaced(text, _pattern(), MISTAKES, intensity, seed, "it has no word for a known mistake")
