"""Small random classifiers of the classes that people use, saved as their libraries save them; and their
logits by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = [
    "the",
    "fee",
    "is",
    "five",
    "dollars",
    "rate",
    "rises",
    "falls",
    "bank",
    "pays",
    "you",
    "are",
    "an",
    "idiot",
    ".",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NLI = ("contradiction", "entailment", "neutral")
POSITIONS = 32


def save_classifier(folder: Path, labels: Sequence[str], kind: str = "Bert", **config: Any) -> Path:
    """A sequence classifier of at most 32 tokens, large enough in its weights to tell texts apart.

    Args:
        kind: of the class: Bert, Roberta, DebertaV2, DistilBert.
        config: further settings of its configuration.
    """
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = save_tokenizer(folder)
    sizes: Mapping[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.5,
    }
    if kind == "DistilBert":
        sizes = {
            "dim": 32,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 64,
            "max_position_embeddings": POSITIONS,
            "initializer_range": 0.5,
        }
    if kind == "Roberta":
        sizes = {**sizes, "max_position_embeddings": POSITIONS + 1, "pad_token_id": 0, "type_vocab_size": 2}
    torch.manual_seed(0)
    transformers.utils.logging.disable_progress_bar()
    settings = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
        **sizes,
        **config,
    )
    getattr(transformers, f"{kind}ForSequenceClassification")(settings).save_pretrained(folder)
    return folder


def save_tokenizer(folder: Path) -> Any:
    """A WordPiece tokenizer that marks pairs as BERT does, and names no limit."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: place for place, word in enumerate([*SPECIAL, *WORDS])}
    word_piece = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    word_piece.normalizer = normalizers.BertNormalizer()
    word_piece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    word_piece.decoder = decoders.WordPiece()
    word_piece.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=word_piece,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def by_hand(folder: Path, *texts: str) -> list[float]:
    """The logits of one text or pair, by the library alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    encoded = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt")
    if not hasattr(model.config, "type_vocab_size") or model.config.model_type == "distilbert":
        encoded.pop("token_type_ids", None)
    with torch.no_grad():
        return list(model(**encoded).logits[0].tolist())
