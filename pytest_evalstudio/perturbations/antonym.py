"""Words for the opposite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._lexical import exchange, lacks

_SHARES = {"LOW": 0.5, "MEDIUM": 0.7, "HIGH": 0.9}


@perturbator("antonym", name="Antonym", keeps_meaning=False)
@dataclass(frozen=True)
class Antonym:
    """Replaces 50, 70 or 90 % of the English words that have antonyms in WordNet, in the same form.

    The form is part of speech, number and degree.

    Attributes:
        wordnet: folder of WordNet's files; "" to look for them in the system's folders and NLTK's data.
    """

    wordnet: str = ""
    path_options: ClassVar[tuple[str, ...]] = ("wordnet",)

    def lacks(self) -> str:
        return lacks(self.wordnet)

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        return exchange(text, "antonyms", _SHARES[intensity], seed, self.wordnet)
