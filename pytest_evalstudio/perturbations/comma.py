"""Commas where none belong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_evalstudio.core.perturbators import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._words import WORD_LEVELS, too_few

_AFTER = {every: re.compile(rf"((?:\S+\s+){{{every - 1}}}\S*\w)(?=\s)|(?:\S+\s+){{{every - 1}}}\S+(?=\s)") for every in WORD_LEVELS.values()}
"""So many words, with the last one in group 1 unless it ends in punctuation."""


@perturbator("comma", name="Comma")
@dataclass(frozen=True)
class Comma:
    """Puts a comma after every 10th, 3rd or 2nd word, except where there is punctuation already."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        every = WORD_LEVELS[intensity]
        made = _AFTER[every].sub(lambda found: found[0] + "," if found[1] else found[0], text)
        if len(made) == len(text):
            return Change.none(too_few(every) + " before its last one, or punctuation in their places")
        return Change(made, len(made) - len(text))
