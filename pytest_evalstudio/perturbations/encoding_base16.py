"""Prompts in base16."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._encoding import as_bytes, encoded


@perturbator("encoding_base16", name="Base16 encoding", keeps_meaning=False, intensities=())
@dataclass(frozen=True)
class EncodingBase16:
    """Encodes the prompt in base16 and asks for an encoded answer, an attack on plain-text guardrails.

    Attributes:
        spaces: whether bytes are separated by spaces.
    """

    spaces: bool = False

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        if self.spaces:
            return encoded(
                text, as_bytes(text).hex(" "), "BASE16_SPACES", "base16 with a space after each byte"
            )
        return encoded(text, as_bytes(text).hex(), "BASE16", "base16")
