"""An embedder without weights: texts that share words are near each other, and the same text has the same
vector everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytest_evalstudio.core.tools import TokenMatch

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


class NearWordAligner:
    """Aligns words: the same word has similarity 1, another one 0.2 with the first word of the source."""

    name = "near words"

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[list[TokenMatch]]:
        return [self._matches(text, source) for text, source in pairs]

    def _matches(self, text: str, source: str) -> list[TokenMatch]:
        positions = {}
        for place, match in enumerate(re.finditer(r"\w+", source.lower())):
            positions.setdefault(match[0], (place, match.start()))
        matches = []
        for match in re.finditer(r"\w+", text.lower()) if len(text.lower()) == len(text) else ():
            place, position = positions.get(match[0], (0, 0))
            matches.append(
                TokenMatch(
                    start=match.start(),
                    end=match.end(),
                    similarity=1.0 if match[0] in positions else 0.2,
                    place=place,
                    position=position,
                )
            )
        return matches
