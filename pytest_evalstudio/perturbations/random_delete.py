"""Characters too few."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations._characters import SHARES, alphanumeric, cluster_end, picked
from pytest_evalstudio.perturbations._typos import typical


@perturbator("random_delete", name="Random deletion", intensities=INTENSITIES, default="TYPICAL")
@dataclass(frozen=True)
class RandomDelete:
    """Deletes a share of the letters and digits, with their accents; one of them stays at least.

    Attributes:
        replacement: text that replaces them, e.g. "X".
    """

    replacement: str = ""

    def _typo(self, word: str, index: int, rng: random.Random) -> str:
        return word[:index] + self.replacement + word[index + 1 :]

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        candidates = alphanumeric(text)
        if len(candidates) < 2:
            return Change.none("it has fewer than two letters or digits")
        if intensity == "TYPICAL":
            return typical(text, (self._typo,), seed, len(candidates))
        # An empty question would test nothing.
        positions = picked(candidates, SHARES[intensity], seed)[: len(candidates) - 1]
        letters = list(text)
        if text.isascii():
            for position in positions:
                letters[position] = self.replacement
        else:
            for position in positions:
                end = cluster_end(text, position)
                letters[position:end] = [self.replacement, *[""] * (end - position - 1)]
        result = "".join(letters)
        return (
            Change(result, len(positions))
            if result != text
            else Change.none("all that would be deleted is the replacement already")
        )
