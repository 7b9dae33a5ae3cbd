"""Sentences of running text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_evalstudio.text.cache import cached_by_text

Span = tuple[int, int]

_SEPARATORS = re.compile(r"[.!?。！？…\n]")
_STOPS = "。！？｡।॥؟۔։።፧፨៕။܀܂᠃᠉"
"""Full stops, question and exclamation marks that end a sentence whether or not a blank follows."""
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_END = re.compile(rf"(?:[{_STOPS}]+|(?<=[{_IDEOGRAPHS}])[!?.]+(?=[{_IDEOGRAPHS}]))[\"'”’»」』】）)\]]*")
_FOREIGN = re.compile(rf"[{_STOPS}]|[{_IDEOGRAPHS}][!?.]")
"""A text without it has no end that the segmenter of Western languages does not know."""


def prose_sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of running text, in order, without surrounding blanks.

    Args:
        text: any language; a blank line ends a sentence; time is linear in its length.

    Returns:
        (start, end) pairs with `text[start:end]` the sentence; [] for a blank text.

    Source: syntok's segmenter (right on "Dr. Smith paid $1.5 million."), which knows no downloaded data; full
        stops of other scripts by themselves.

    >>> text = "Dr. Smith paid. He left."
    >>> [text[a:b] for a, b in prose_sentences(text)]
    ['Dr. Smith paid.', 'He left.']
    >>> prose_sentences("甲。乙。")
    [(0, 2), (2, 4)]
    """
    if not _FOREIGN.search(text):
        return _western(text)
    return [
        (start + first, start + last)
        for start, end in _pieces(text)
        for first, last in _western(text[start:end])
    ]


def _pieces(text: str) -> Iterator[Span]:
    """Yield the stretches between marks that end a sentence in any case."""
    position = 0
    for match in _END.finditer(text):
        yield position, match.end()
        position = match.end()
    if position < len(text):
        yield position, len(text)


def _western(text: str) -> list[Span]:
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
def _paragraph_sentences(text: str) -> tuple[Span, ...]:
    """Return the spans of a paragraph; several evaluators and cases read the same answers and chunks."""
    if not _SEPARATORS.search(text):
        start = len(text) - len(text.lstrip())
        return ((start, start + len(text.strip())),)
    from pytest_evalstudio.text._segmenter import Paragraph

    return tuple(Paragraph(text).sentences())
