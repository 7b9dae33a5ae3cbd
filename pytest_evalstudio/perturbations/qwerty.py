"""Y and Z of a keyboard with the other layout."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator

_EVERY = {"LOW": 3, "MEDIUM": 2, "HIGH": 1}
_LETTER = re.compile("[yzYZ]")
_OTHER = str.maketrans("yzYZ", "zyZY")


@perturbator("qwerty", name="QWERTY")
@dataclass(frozen=True)
class Qwerty:
    """Swaps y and z, every 3rd, every 2nd or all of them, as on a keyboard of the QWERTZ layout."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        letters = list(text)
        positions = [match.start() for match in _LETTER.finditer(text)][:: _EVERY[intensity]]
        for position in positions:
            letters[position] = letters[position].translate(_OTHER)
        return (
            Change("".join(letters), len(positions)) if positions else Change.none("it has neither y nor z")
        )
