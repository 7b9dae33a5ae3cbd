"""Commas where none belong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._words import WORD_LEVELS

_WORD_END = re.compile(r"\w(?=\s+\S)")
"""End of a word that is not followed by punctuation and is not the last."""


@perturbator("comma", name="Comma")
@dataclass(frozen=True)
class Comma:
    """Puts a comma after every 10th, 3rd or 2nd word, of those that no punctuation follows."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        every = WORD_LEVELS[intensity]
        ends = [match.end() for match in _WORD_END.finditer(text)][every - 1 :: every]
        if not ends:
            return Change.none(
                f"it has fewer than {every} words, except the last, that no punctuation follows"
            )
        return Change(
            ",".join([text[start:end] for start, end in zip([0, *ends], [*ends, None], strict=True)]),
            len(ends),
        )
