"""Other words for the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._lexical import exchange, lacks

_SHARES = {"LOW": 0.3, "MEDIUM": 0.5, "HIGH": 0.7}


@perturbator("synonym", name="Synonym")
@dataclass(frozen=True)
class Synonym:
    """Replaces 30, 50 or 70 % of the English words that have a reviewed synonym in WordNet, in the same form.

    Words whose synonyms depend on the sense are left alone, and so are irregular forms.

    The form is part of speech, number, tense and degree.

    Attributes:
        wordnet: folder of WordNet's files; "" to look for them in the system's folders and NLTK's data.
    """

    wordnet: str = ""
    path_options: ClassVar[tuple[str, ...]] = ("wordnet",)

    def lacks(self) -> str:
        return lacks(self.wordnet)

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        return exchange(text, "synonyms", _SHARES[intensity], seed, self.wordnet)
