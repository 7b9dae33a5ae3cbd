"""Changes of random characters: one of five kinds, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations.keyboard_typos import KeyboardTypos
from pytest_evalstudio.perturbations.ocr import Ocr
from pytest_evalstudio.perturbations.random_delete import RandomDelete
from pytest_evalstudio.perturbations.random_insert import RandomInsert
from pytest_evalstudio.perturbations.random_replacement import RandomReplacement

_KINDS: dict[str, Any] = {
    "random_replacement": RandomReplacement(),
    "random_insert": RandomInsert(),
    "random_delete": RandomDelete(),
    "keyboard_typos": KeyboardTypos(),
    "ocr": Ocr(),
}


@perturbator("random_character", name="Random characters", intensities=INTENSITIES)
@dataclass(frozen=True)
class RandomCharacter:
    """Changes a share of the characters as its option `kind` says.

    Attributes:
        kind: which of the five.
    """

    kind: Literal["random_replacement", "random_insert", "random_delete", "keyboard_typos", "ocr"] = (
        "random_replacement"
    )

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        change: Change = _KINDS[self.kind].perturb(text, intensity, seed)
        return change
