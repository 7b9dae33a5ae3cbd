"""Wrong characters."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations._characters import (
    NOTHING_TO_CHANGE,
    SHARES,
    alphabet_of,
    alphanumeric,
    letter,
    picked,
    stream,
)


@perturbator("random_replacement", name="Random replacement", intensities=INTENSITIES)
@dataclass(frozen=True)
class RandomReplacement:
    """Replaces a share of the letters and digits by random letters in the script of the text."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        candidates = alphanumeric(text)
        if not candidates:
            return Change.none(NOTHING_TO_CHANGE)
        places = picked(candidates, SHARES[intensity], seed)
        letters, alphabet = list(text), alphabet_of(text)
        for place, byte in zip(places, stream(seed, len(places)), strict=True):
            letters[place] = letter(byte, letters[place], alphabet)
        return Change("".join(letters), len(places))
