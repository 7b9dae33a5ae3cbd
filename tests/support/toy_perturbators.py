"""A perturbator as another package would bring it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator


@perturbator("reversed", name="Reversed", keeps_meaning=False, intensities=())
@dataclass(frozen=True)
class Reversed:
    """Writes the question backwards."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        return Change(text[::-1], len(text))
