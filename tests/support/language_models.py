"""Language models without weights: a word that was read before is likely, any other the less the longer it
is.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.tools import Likelihood, Passage


class WordLanguageModel:
    """A word that stands in instruction or before has the logarithm -0.5, another that of its length, from -1
    to -20.

    Args:
        context: words that are read before the text; more are cut off.
    """

    name = "words"

    def __init__(self, context: int = 100_000) -> None:
        self._context = context
        self.calls: list[list[Passage]] = []

    def read(self, passages: Sequence[Passage], *, stride: int | None = None) -> list[Likelihood]:
        self.calls.append(list(passages))
        return [self._read(passage) for passage in passages]

    def _read(self, passage: Passage) -> Likelihood:
        before = passage.before.split()
        known_words = {*passage.instruction.split(), *before[-self._context :]}
        tokens = tuple(
            -0.5 if word in known_words else -float(min(len(word), 20)) for word in passage.text.split()
        )
        return Likelihood(tokens=tokens, is_cut=len(before) > self._context)


class WordMatcher:
    """Precision and recall are shares of common words."""

    name = "words"

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []

    def match(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float, float]]:
        self.calls.append(list(pairs))
        return [self._matched(set(text.split()), set(reference.split())) for text, reference in pairs]

    @staticmethod
    def _matched(text: set[str], reference: set[str]) -> tuple[float, float, float]:
        both = len(text & reference)
        return (
            (both / len(text), both / len(reference), 2 * both / (len(text) + len(reference)))
            if both
            else (0.0, 0.0, 0.0)
        )
