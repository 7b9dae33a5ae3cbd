"""Texts beyond a model's limit, cut into windows that fit; nothing is ever cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_SLACK_TOKENS = 2
"""A word cut in two may have more tokens in its parts than it had as a whole."""
_CHARS_PER_CALL = 200_000
"""Characters of the texts of one call of a tokenizer, whose result takes some hundred bytes per token."""


def token_counts(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text, without special tokens.

    Texts are counted together: the call itself takes longer than a short text.
    """
    counts: list[int] = []
    for batch in _batches(texts):
        encoded = tokenizer(batch, add_special_tokens=False, truncation=False, padding=False, verbose=False)
        counts += [len(ids) for ids in encoded["input_ids"]]
    return counts


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts for one call each; a text beyond the limit of characters has a call of its own."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > _CHARS_PER_CALL:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def windows(tokenizer: Any, text: str, limit: int) -> list[tuple[str, int]]:
    """Return a text as (part, tokens) pairs of at most `limit` tokens, in order.

    Texts are split between words where possible.

    Args:
        tokenizer: of the model; one without offsets has the text halved until its parts fit.
        limit: tokens without the special ones; at least 1.
    """
    parts: list[tuple[str, int]] = []
    for part in _cut(tokenizer, text, limit) if tokenizer.is_fast else [text]:
        parts += _halved(tokenizer, part, limit)
    return parts


def _cut(tokenizer: Any, text: str, limit: int) -> list[str]:
    encoded = tokenizer(
        text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
    )
    offsets, words = encoded["offset_mapping"], encoded.word_ids()
    if len(offsets) <= limit:
        return [text]
    body = max(1, limit - _SLACK_TOKENS)
    parts, start = [], 0
    while start < len(offsets):
        end = min(start + body, len(offsets))
        if end < len(offsets):
            # Between words, but never in the first half: windows would become short, and many.
            between = next(
                (
                    position
                    for position in range(end, start + body // 2, -1)
                    if words[position] != words[position - 1]
                ),
                end,
            )
            end = between
        parts.append(text[offsets[start][0] : offsets[end - 1][1]])
        start = end
    return [part for part in parts if part.strip()]


def _halved(tokenizer: Any, part: str, limit: int) -> list[tuple[str, int]]:
    count = token_counts(tokenizer, [part])[0]
    if count <= limit or len(part) < 2:
        return [(part, max(1, count))]
    middle = part.rfind(" ", 1, len(part) // 2 + 1)
    middle = middle if middle > 0 else len(part) // 2
    return _halved(tokenizer, part[:middle], limit) + _halved(tokenizer, part[middle:], limit)
