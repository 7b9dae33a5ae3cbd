"""Classifiers of texts on real code and small random weights, detoxify's checkpoints among them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.formats.weights_tables import BiasModel, ToxicityModel
from pytest_evalstudio.models.detoxify import RELEASES, find_detoxify, toxicity_classifier
from pytest_evalstudio.models.text_classifier import LabelScorer
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.models.windows import windows
from support.tiny_models import POSITIONS, WORDS, by_hand, save_classifier

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

TOXIC = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
TEXTS = [
    "you are an idiot .",
    "the fee is five dollars",
    "idiot",
    "👩‍👩‍👧",
    "東京",
    "",
    "a\ud800",
    "the fee is five dollars",
]
LONG = " ".join(WORDS * 5)


def sigmoid(logits: list[float]) -> list[float]:
    return [float(1 / (1 + np.exp(-value))) for value in logits]


def softmax(logits: list[float]) -> list[float]:
    powers = np.exp(np.array(logits) - max(logits))
    return list(powers / powers.sum())


def biased(folder: Path) -> LabelScorer:
    settings = BiasModel(model=str(folder), device="cpu")
    return LabelScorer(
        find_weights(settings.model, revision=None, table="bias_model", start=Path(), fetch=False),
        settings,
        table="bias_model",
    )


def toxic(folder: Path, **options: Any) -> LabelScorer:
    settings = ToxicityModel(model=str(folder), device="cpu", **options)
    return toxicity_classifier(
        find_detoxify(settings.model, revision=None, table="toxicity_model", start=Path(), fetch=False),
        settings,
    )


@pytest.fixture(scope="module")
def bias(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the class of d4data's model: DistilBERT with two labels."""
    return save_classifier(tmp_path_factory.mktemp("bias") / "model", ["Non-biased", "Biased"], "DistilBert")


@pytest.fixture(scope="module")
def toxicity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the class of unitary's model on the hub: BERT with six labels that may all hold."""
    return save_classifier(
        tmp_path_factory.mktemp("toxic") / "model", TOXIC, problem_type="multi_label_classification"
    )


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint as detoxify's training writes it, beside configuration and tokenizer."""
    pytest.importorskip("detoxify", exc_type=ImportError)
    return save_checkpoint(tmp_path_factory.mktemp("detoxify") / "model")


def save_checkpoint(folder: Path, base: str = "") -> Path:
    import torch
    from transformers import BertForSequenceClassification

    save_classifier(folder, TOXIC, problem_type="multi_label_classification")
    model = BertForSequenceClassification.from_pretrained(folder)
    arch = {
        "model_type": base or str(folder),
        "model_name": "BertForSequenceClassification",
        "tokenizer_name": "AutoTokenizer",
        "num_classes": 6,
    }
    config = {"arch": {"args": arch}, "dataset": {"args": {"classes": TOXIC}}}
    torch.save({"config": config, "state_dict": model.state_dict()}, folder / "toxic.ckpt")
    (folder / "model.safetensors").unlink()
    return folder


def test_of_two_labels_one_holds(bias: Path) -> None:
    result = biased(bias).classify(TEXTS)
    for text, row in zip(TEXTS, result, strict=True):
        assert list(row) == ["Non-biased", "Biased"]
        assert list(row.values()) == pytest.approx(
            softmax(by_hand(bias, text.replace("\ud800", "\ufffd"))), abs=1e-5
        )
    assert result[1] == result[-1]


def test_of_several_labels_all_may_hold(toxicity: Path) -> None:
    result = toxic(toxicity).classify(TEXTS)
    for text, row in zip(TEXTS[:6], result, strict=False):
        assert list(row) == TOXIC
        assert list(row.values()) == pytest.approx(sigmoid(by_hand(toxicity, text)), abs=1e-5)


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "DebertaV2"])
def test_of_a_long_text_the_window_counts_that_has_most_of_a_label(tmp_path: Path, kind: str) -> None:
    folder = save_classifier(tmp_path / "model", TOXIC, kind, problem_type="multi_label_classification")
    scorer = toxic(folder)
    parts = [part for part, _ in windows(scorer.opened.tokenizer, LONG, POSITIONS - 2)]
    assert len(parts) > 2
    assert " ".join(parts) == LONG
    by_window = [sigmoid(by_hand(folder, part)) for part in parts]
    assert list(scorer.classify([LONG])[0].values()) == pytest.approx(
        [max(column) for column in zip(*by_window, strict=True)], abs=1e-5
    )


def test_batches_change_nothing(toxicity: Path) -> None:
    texts = [*TEXTS, LONG, *WORDS]
    singles, batch = (
        toxic(toxicity, batch_size=1).classify(texts),
        toxic(toxicity, batch_size=64).classify(texts),
    )
    assert [row["toxic"] for row in singles] == pytest.approx([row["toxic"] for row in batch], abs=1e-5)
    assert toxic(toxicity).classify([]) == []


def test_half_precision_is_near(toxicity: Path) -> None:
    exact, near = toxic(toxicity).classify(TEXTS[:2]), toxic(toxicity, dtype="bfloat16").classify(TEXTS[:2])
    assert [row["toxic"] for row in exact] == pytest.approx([row["toxic"] for row in near], abs=0.1)


def test_a_checkpoint_gives_what_detoxify_predicts(checkpoint: Path) -> None:
    from detoxify import Detoxify

    reference = Detoxify(checkpoint=str(checkpoint / "toxic.ckpt"), huggingface_config_path=str(checkpoint))
    for text, row in zip(TEXTS[:3], toxic(checkpoint).classify(TEXTS[:3]), strict=True):
        assert dict(row) == pytest.approx(reference.predict(text), abs=1e-5)
        assert list(row) == ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack"]


def test_the_end_of_a_long_text_counts_where_detoxify_cuts_it_off(checkpoint: Path) -> None:
    scorer = toxic(checkpoint)
    start = "the fee is five dollars . " * 20
    first, second = scorer.classify([start + "the rate rises", start + "you idiot"])
    assert first != second


def test_a_folder_with_two_checkpoints_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    for name in ("one.ckpt", "two.ckpt", "config.json"):
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(ConfigurationError, match="has 2 checkpoints"):
        toxic(tmp_path)


def test_a_broken_checkpoint_is_an_error_in_words(checkpoint: Path, tmp_path: Path) -> None:
    for name in ("one.ckpt", "config.json"):
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(EvaluationError, match="cannot be loaded"):
        toxic(tmp_path).classify(["a"])


def test_a_release_is_taken_from_the_caches_without_a_network(tmp_path: Path) -> None:
    """A checkpoint under the release's name in torch's cache, and its tokenizer in the hub's."""
    pytest.importorskip("detoxify", exc_type=ImportError)
    base, release = RELEASES["original"]
    hub = tmp_path / "hub" / f"models--{base}"
    commit = "0" * 40
    snapshot = save_checkpoint(hub / "snapshots" / commit, base)
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text(commit)
    file = tmp_path / "torch" / "hub" / "checkpoints" / Path(release).name
    file.parent.mkdir(parents=True)
    (snapshot / "toxic.ckpt").rename(file)
    code = """
from pathlib import Path
from pytest_evalstudio.formats.weights_tables import ToxicityModel
from pytest_evalstudio.models.detoxify import find_detoxify, toxicity_classifier
weights = find_detoxify("original", revision=None, table="toxicity_model", start=Path(), fetch=False)
print(toxicity_classifier(weights, ToxicityModel(device="cpu")).classify(["you are an idiot ."])[0])
"""
    cache_folders = {
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_HOME": str(tmp_path),
        "TORCH_HOME": str(tmp_path / "torch"),
    }
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **cache_folders},
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "'identity_attack'" in run.stdout


@pytest.mark.parametrize("model", ["original", "multilingual"])
def test_a_release_that_is_not_here_is_told_with_the_ways_to_get_it(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("detoxify", exc_type=ImportError)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigurationError) as exc_info:
        find_detoxify(model, revision=None, table="toxicity_model", start=Path(), fetch=False)
    message = str(exc_info.value)
    assert message.startswith(f"toxicity_model.model = {model!r} is not available")
    assert all(
        way in message
        for way in (
            "pytest-evalstudio[models]",
            "unitary/toxic-bert",
            "trusted files only",
            "it is not fetched",
        )
    )
