"""Embedding reports its progress to the display of the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.core.progress import ProgressDisplay
from pytest_evalstudio.formats.weights_tables import Embeddings
from pytest_evalstudio.models import embedder
from pytest_evalstudio.models.embedder import SentenceEmbedder
from pytest_evalstudio.models.vectors import VectorCache
from pytest_evalstudio.models.weights import Weights


class Output:
    is_rewritten = True

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show(self, text: str) -> None:
        self.texts.append(text)

    def clear(self) -> None: ...


class WithoutModel(SentenceEmbedder):
    def _embedded(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 1), dtype=np.float32)


def test_embedded_texts_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedder, "_STORED_AT_ONCE", 2)
    monkeypatch.setattr("pytest_evalstudio.core.progress.REWRITE_S", 0.0)
    output = Output()
    model = WithoutModel(Weights(tmp_path, "id", "m"), Embeddings(), VectorCache(None))
    with ProgressDisplay(output, label="m", beginning="scoring"):
        model.encode(["a", "b", "c", "d", "e"])
        model.encode(["a", "b"])
    assert output.texts == [
        "m: 2/5 texts embedded",
        "m: 4/5 texts embedded",
        "m: 5/5 texts embedded",
    ]
