"""Wrong characters."""

from __future__ import annotations

import random
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
from pytest_evalstudio.perturbations._typos import Typo, replaced_from, typical
from pytest_evalstudio.perturbations.keyboard_typos import NEIGHBOURS


@perturbator("random_replacement", name="Random replacement", intensities=INTENSITIES, default="TYPICAL")
@dataclass(frozen=True)
class RandomReplacement:
    """Replaces a share of the letters and digits by random letters in the script of the text.

    With the intensity "typical" one or two letters are replaced by adjacent keys on a US keyboard, in another
    script by random letters.
    """

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        candidates = alphanumeric(text)
        if not candidates:
            return Change.none(NOTHING_TO_CHANGE)
        if intensity == "TYPICAL":
            return typical(text, (_wrong_letter(alphabet_of(text)),), seed, len(candidates))
        positions = picked(candidates, SHARES[intensity], seed)
        letters, alphabet = list(text), alphabet_of(text)
        for position, byte in zip(positions, stream(seed, len(positions)), strict=True):
            letters[position] = letter(byte, letters[position], alphabet)
        return Change("".join(letters), len(positions))


def _wrong_letter(alphabet: str) -> Typo:
    adjacent = replaced_from(NEIGHBOURS)

    def replace(word: str, index: int, rng: random.Random) -> str:
        if word[index] in NEIGHBOURS:
            return adjacent(word, index, rng)
        return word[:index] + letter(rng.randrange(256), word[index], alphabet) + word[index + 1 :]

    return replace
