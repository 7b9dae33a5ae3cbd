"""Tokens are counted for all texts together: calls of the tokenizer do not grow with the number of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.weights_tables import BiasModel, CrossEncoding, HallucinationModel, Nli
from pytest_evalstudio.models.consistency import ConsistencyScorer
from pytest_evalstudio.models.cross_encoder import PairScorer
from pytest_evalstudio.models.nli import EntailmentJudge
from pytest_evalstudio.models.text_classifier import LabelScorer
from pytest_evalstudio.models.weights import find_weights
from support.tiny_models import NLI, WORDS, save_classifier

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("sentence_transformers", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

PAIRS = [(f"the {first} rises", f"the {second} falls") for first in WORDS for second in WORDS]
BATCHES = -(-len(PAIRS) // 64)
LONG = [(" ".join(WORDS * 3), "the fee is five dollars"), ("the bank", " ".join(WORDS * 4))]
Scores = Callable[[list[tuple[str, str]]], list[Any]]


def model(kind: str, folder: Path) -> Scores:
    """Return the scores of pairs by a small random model; a classifier of texts reads the first text."""
    labels: dict[str, tuple[str, ...]] = {"nli": NLI, "bias_model": ("Non-biased", "Biased")}
    settings: Any = {
        "nli": Nli,
        "hallucination_model": HallucinationModel,
        "cross_encoder": CrossEncoding,
        "bias_model": BiasModel,
    }[kind](model=str(save_classifier(folder, labels.get(kind, ("LABEL_0",)))), device="cpu", batch_size=64)
    weights = find_weights(settings.model, revision=None, table=kind, start=Path(), fetch=False)
    if kind == "nli":
        return EntailmentJudge(weights, settings).judge
    if kind == "hallucination_model":
        return ConsistencyScorer(weights, settings).score
    if kind == "cross_encoder":
        return PairScorer(weights, settings).score
    classifier = LabelScorer(weights, settings, table=kind)
    return lambda pairs: list(classifier.classify([f"{first} {second}" for first, second in pairs]))


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield the numbers of texts or pairs of each call of a tokenizer."""
    from transformers import PreTrainedTokenizerBase

    sizes: list[int] = []
    original = PreTrainedTokenizerBase.__call__

    def call(self: Any, text: Any, *args: Any, **options: Any) -> Any:
        sizes.append(1 if isinstance(text, str) else len(text))
        return original(self, text, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(PreTrainedTokenizerBase, "__call__", call)
        yield sizes


@pytest.mark.parametrize("kind", ["nli", "hallucination_model", "cross_encoder", "bias_model"])
def test_texts_are_counted_together_and_read_in_batches(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = model(kind, tmp_path / "model")
    scores(PAIRS[:1])
    with counted(monkeypatch) as sizes:
        scores(PAIRS)
    assert len(sizes) == 1 + BATCHES
    assert sum(sizes[1:]) == len(PAIRS)


@pytest.mark.parametrize("kind", ["nli", "hallucination_model", "cross_encoder", "bias_model"])
def test_scores_are_those_of_each_text_alone(kind: str, tmp_path: Path) -> None:
    scores = model(kind, tmp_path / "model")
    pairs = [*PAIRS[:20], *LONG, *PAIRS[:2]]
    batch, singles = scores(pairs), [scores([pair])[0] for pair in pairs]
    for score, single in zip(batch, singles, strict=True):
        assert values_of(score) == pytest.approx(values_of(single), abs=1e-5)


def values_of(score: Any) -> list[float]:
    if isinstance(score, float):
        return [score]
    if isinstance(score, dict):
        return list(score.values())
    return [score.entailment, score.neutral, score.contradiction]
