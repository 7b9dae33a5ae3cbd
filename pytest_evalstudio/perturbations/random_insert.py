"""Characters too many."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations._characters import (
    NOTHING_TO_CHANGE,
    SHARES,
    alphabet_of,
    alphanumeric,
    picked,
    stream,
)
from pytest_evalstudio.perturbations._typos import doubled, typical


@perturbator("random_insert", name="Random insertion", intensities=INTENSITIES, default="TYPICAL")
@dataclass(frozen=True)
class RandomInsert:
    """Inserts a random letter before a share of the letters and digits, in the script of the text.

    With the intensity "typical" one or two letters are doubled.
    """

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        candidates = alphanumeric(text)
        if not candidates:
            return Change.none(NOTHING_TO_CHANGE)
        if intensity == "TYPICAL":
            return typical(text, (doubled,), seed, len(candidates))
        positions = picked(candidates, SHARES[intensity], seed)
        letters, alphabet = list(text), alphabet_of(text)
        size = len(alphabet)
        for position, byte in zip(positions, stream(seed, len(positions)), strict=True):
            letters[position] = alphabet[byte % size] + letters[position]
        return Change("".join(letters), len(positions))
