"""The cross-encoder on real code and a small random model: its numbers are the sigmoid of that model's own
outputs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import CrossEncoding
from pytest_evalstudio.models.cross_encoder import PairScorer
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.models.windows import windows

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("sentence_transformers", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

WORDS = ["the", "fee", "is", "five", "dollars", "rate", "rises", "falls", "bank", "pays"]


def save_model(folder: Path, outputs: int) -> Path:
    """A random BERT classifier of at most 24 tokens that reads pairs."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    torch.manual_seed(0)
    size = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 24,
    }
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=24)
    model = BertForSequenceClassification(
        BertConfig(vocab_size=len(tokenizer), num_labels=outputs, initializer_range=0.5, **size)
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("cross") / "model", 1)


def scorer(folder: Path) -> PairScorer:
    settings = CrossEncoding(model=str(folder), device="cpu")
    return PairScorer(
        find_weights(settings.model, revision=None, table="cross_encoder", start=Path(), fetch=False),
        settings,
    )


def by_hand(folder: Path, first: str, second: str) -> float:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return float(
            torch.sigmoid(
                model(**AutoTokenizer.from_pretrained(folder)(first, second, return_tensors="pt")).logits
            )[0, 0]
        )


def test_a_score_is_the_sigmoid_of_the_output(tiny: Path) -> None:
    pairs = [
        ("the fee is five dollars", "the fee"),
        ("the rate rises", "the rate falls"),
        ("bank", "a\ud800"),
        ("the fee is five dollars", "the fee"),
    ]
    result = scorer(tiny).score(pairs)
    assert result[:2] == pytest.approx([by_hand(tiny, *pair) for pair in pairs[:2]], abs=1e-5)
    assert result[0] == result[3]
    assert len(set(result)) == 3
    assert scorer(tiny).score([]) == []


def test_a_long_pair_is_read_in_windows(tiny: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    first, second = " ".join(WORDS * 3), "the bank pays five dollars"
    parts = windows(tokenizer, first, 24 - 3 - 5)
    assert len(parts) > 1
    expected = sum(tokens * by_hand(tiny, part, second) for part, tokens in parts) / sum(
        tokens for _, tokens in parts
    )
    assert scorer(tiny).score([(first, second)])[0] == pytest.approx(expected, abs=1e-5)
    other = scorer(tiny).score([(first, " ".join(WORDS[::-1] * 4))])[0]
    assert 0 < other < 1


def test_a_classifier_of_several_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="has 3 outputs"):
        scorer(save_model(tmp_path / "model", 3)).score([("the fee", "the rate")])
