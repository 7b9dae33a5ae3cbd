"""An embedder without weights: texts that share words are near each other, and the same text has the same
vector everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

DIMENSIONS = 64


class WordEmbedder:
    """Sums of one pseudo-random vector per word.

    Args:
        fixed: texts to vectors that the test chooses; scaled to length 1.
    """

    name = "words"

    def __init__(self, fixed: Mapping[str, Sequence[float]] | None = None) -> None:
        self._fixed = dict(fixed or {})
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts]).astype(np.float32)

    def _vector(self, text: str) -> Any:
        if text in self._fixed:
            vector = np.asarray(self._fixed[text], dtype=np.float64)
        else:
            words = re.findall(r"\w+", text.lower())[:500] or [text[:50]]
            vector = np.sum([_word(word) for word in words], axis=0)
        return vector / np.linalg.norm(vector)


def _word(word: str) -> Any:
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8])
    return np.random.default_rng(seed).normal(size=DIMENSIONS)
