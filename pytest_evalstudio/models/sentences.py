"""Sentence boundaries, the same for every evaluator."""

from __future__ import annotations

import functools
import re

_REMEMBERED_CHARS = 20_000
_SEPARATORS = re.compile(r"[.!?。！？…\n]")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, in order, without surrounding blanks.

    Args:
        text: any language; line breaks that leave a blank line end a sentence.

    Returns:
        (start, end) pairs with `text[start:end]` the sentence; [] for a blank text.

    Source: syntok's segmenter (right on "Dr. Smith paid $1.5 million."), which knows no downloaded data.

    >>> [ "Dr. Smith paid. He left."[a:b] for a, b in split_sentences("Dr. Smith paid. He left.")]
    ['Dr. Smith paid.', 'He left.']
    """
    return list(_spans(text)) if len(text) <= _REMEMBERED_CHARS else _split(text)


@functools.lru_cache(maxsize=2048)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return cached spans; several evaluators split the same answers and contexts."""
    return tuple(_split(text))


def _split(text: str) -> list[tuple[int, int]]:
    stripped = text.strip()
    if not stripped:
        return []
    if not _SEPARATORS.search(stripped):
        start = text.index(stripped)
        return [(start, start + len(stripped))]
    from syntok import segmenter

    spans = []
    for paragraph in segmenter.analyze(text):
        for sentence in paragraph:
            if sentence:
                last = sentence[-1]
                spans.append((sentence[0].offset, last.offset + len(last.value)))
    return spans
