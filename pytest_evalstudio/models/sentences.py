"""Sentence boundaries, the same for every evaluator."""

from __future__ import annotations

import re

from pytest_evalstudio.core.text_cache import cached_by_text

_SEPARATORS = re.compile(r"[.!?。！？…\n]")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, in order, without surrounding blanks.

    Args:
        text: any language; line breaks that leave a blank line end a sentence; time is linear in its
            length.

    Returns:
        (start, end) pairs with `text[start:end]` the sentence; [] for a blank text.

    Source: syntok's segmenter (right on "Dr. Smith paid $1.5 million."), which knows no downloaded data.

    >>> [ "Dr. Smith paid. He left."[a:b] for a, b in split_sentences("Dr. Smith paid. He left.")]
    ['Dr. Smith paid.', 'He left.']
    """
    stripped = text.strip()
    if not stripped:
        return []
    if not _SEPARATORS.search(stripped):
        start = text.index(stripped)
        return [(start, start + len(stripped))]
    from syntok.segmenter import preprocess_with_offsets

    return [
        (offset + start, offset + end)
        for offset, paragraph in preprocess_with_offsets(text)
        for start, end in _paragraph_sentences(paragraph)
    ]


@cached_by_text
def _paragraph_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of a paragraph; several evaluators and cases read the same answers and chunks."""
    if not _SEPARATORS.search(text):
        start = len(text) - len(text.lstrip())
        return ((start, start + len(text.strip())),)
    from pytest_evalstudio.models._segmenter import Paragraph

    return tuple(Paragraph(text).sentences())
