"""The same text again: how steady a model is on its own."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator


@perturbator("copy", name="Copy", intensities=(), identical=True)
@dataclass(frozen=True)
class Copy:
    """Leaves the text as it is, to be asked once more: its flips are the model's own noise."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        return Change(text)
