"""Changes of random characters: one of five kinds, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations.keyboard_typos import KeyboardTypos
from pytest_evalstudio.perturbations.ocr import Ocr
from pytest_evalstudio.perturbations.random_delete import RandomDelete
from pytest_evalstudio.perturbations.random_insert import RandomInsert
from pytest_evalstudio.perturbations.random_replacement import RandomReplacement

_KINDS: dict[str, Any] = {
    "random_replacement": RandomReplacement(),
    "random_insert": RandomInsert(),
    "keyboard_typos": KeyboardTypos(),
    "ocr": Ocr(),
}


@perturbator("random_character", name="Random characters", intensities=INTENSITIES, default="TYPICAL")
@dataclass(frozen=True)
class RandomCharacter:
    """Changes a share of the characters as its option `kind` says.

    Attributes:
        kind: which of the five.
        replacement: text that replaces deleted characters; only for "random_delete".
    """

    kind: Literal["random_replacement", "random_insert", "random_delete", "keyboard_typos", "ocr"] = (
        "random_replacement"
    )
    replacement: str = ""

    def __post_init__(self) -> None:
        if self.replacement and self.kind != "random_delete":
            raise ConfigurationError(
                f"replacement: only kind = 'random_delete' replaces by it, not {self.kind!r}"
            )

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        if self.kind == "random_delete":
            return RandomDelete(replacement=self.replacement).perturb(text, intensity, seed)
        change: Change = _KINDS[self.kind].perturb(text, intensity, seed)
        return change
