"""Prompts in base64."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._encoding import as_bytes, encoded


@perturbator("encoding_base64", name="Base64 encoding", keeps_meaning=False, intensities=())
@dataclass(frozen=True)
class EncodingBase64:
    """Encodes the prompt in base64 and asks for an encoded answer, an attack on plain-text guardrails."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        from base64 import b64encode

        return encoded(text, b64encode(as_bytes(text)).decode("ascii"), "BASE64", "base64")
