"""Colloquial and abbreviated language, as in chats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._replacing import pattern_of, replaced

COLLOQUIAL = {
    "about": "abt",
    "are": "r",
    "as soon as possible": "asap",
    "because": "cuz",
    "before": "b4",
    "by the way": "btw",
    "cannot": "can't",
    "do not": "don't",
    "does not": "doesn't",
    "give me": "gimme",
    "going to": "gonna",
    "got to": "gotta",
    "great": "gr8",
    "hello": "hey",
    "how is": "how's",
    "i am": "i'm",
    "i do not know": "idk",
    "in my opinion": "imo",
    "information": "info",
    "is not": "isn't",
    "kind of": "kinda",
    "let me": "lemme",
    "message": "msg",
    "maximum": "max",
    "minimum": "min",
    "people": "ppl",
    "please": "pls",
    "see you": "cya",
    "thank you": "thx",
    "thanks": "thx",
    "that is": "that's",
    "though": "tho",
    "through": "thru",
    "to be honest": "tbh",
    "today": "2day",
    "tomorrow": "tmrw",
    "tonight": "2nite",
    "want to": "wanna",
    "what is": "what's",
    "when is": "when's",
    "where is": "where's",
    "who is": "who's",
    "with": "w/",
    "without": "w/o",
    "yes": "yeah",
    "you": "u",
    "your": "ur",
}
"""Written language, and its colloquial or abbreviated form."""

_pattern = lru_cache(maxsize=1)(lambda: pattern_of(COLLOQUIAL))


@perturbator("colloquial", name="Colloquial language")
@dataclass(frozen=True)
class Colloquial:
    """Writes 30, 60 or 100 % of the known words and phrases as in a chat; English only."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        return replaced(
            text, _pattern(), COLLOQUIAL, intensity, seed, "it has no word with a colloquial form"
        )
