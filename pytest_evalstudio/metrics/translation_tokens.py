"""Tokens of texts as sacrebleu divides them, e.g. those of Chinese."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from pytest_evalstudio.core.extras import import_extra

_CLASSES: Mapping[str, tuple[str, str]] = {
    "13a": ("tokenizer_13a", "Tokenizer13a"),
    "intl": ("tokenizer_intl", "TokenizerV14International"),
    "zh": ("tokenizer_zh", "TokenizerZh"),
    "char": ("tokenizer_char", "TokenizerChar"),
}


@functools.cache
def _tokenizer(name: str) -> Any:
    module, tokenizer = _CLASSES[name]
    package = import_extra(f"sacrebleu.tokenizers.{module}", f"tokenize = {name!r}", extra="bleu")
    return getattr(package, tokenizer)()


def translation_tokens(name: str) -> Callable[[str], tuple[str, ...]]:
    """Return the function that divides a text as a tokenizer of sacrebleu does.

    Args:
        name: "13a", "intl", "zh" or "char", as sacrebleu calls them.

    Raises:
        ConfigurationError: if sacrebleu is not installed.

    Source: Post, 2018 (A Call for Clarity in Reporting BLEU Scores).
    """
    tokenizer = _tokenizer(name)
    return lambda text: tuple(tokenizer(text).split())
