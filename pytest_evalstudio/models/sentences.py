"""Sentence boundaries, the same for every evaluator."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

_REMEMBERED_CHARS = 20_000
_SEPARATORS = re.compile(r"[.!?。！？…\n]")
_ORDINARY = re.compile(r"[\x20-\x7e\n\xa3\xa7\xb0\xc0-\xff\u2013\u2014\u2018-\u201d\u20ac]*")
"""Paragraph in which only the marks of `_EVENT` can end a sentence."""
_EVENT = re.compile(
    r"[(\[{)\]}]|(?:(?<![^ \n-])([A-Z]*+[a-z]++|[A-Z]{2,}+))?([.!?;])"
    r"(?:[ \n]++(?=[A-Z])()|[ \n]++(?=[a-z])())?"
)
"""Bracket, or mark that may end a sentence: the word before it, the mark, and whether a capital or a small
letter follows.
"""
_OPENING = frozenset("([{")
_MAX_SEGMENTED_CHARS = 100_000
"""Most characters of one text for the segmenter, which takes 2 µs for each: no answer comes near."""
_SIMPLE_END = re.compile(
    r"[.!?\u2026]++[)\]}\"'\u2019\u201d]*+(?=\s)|[\u3002\uff01\uff1f]++[\u300d\u300f\u201d]*+|\Z"
)
"""End of a sentence beyond these characters."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, in order, without surrounding blanks.

    Args:
        text: any language; line breaks that leave a blank line end a sentence. After 100,000 characters
            with doubtful marks, each full stop before a blank ends one, that of "Dr." too.

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
    from syntok.segmenter import preprocess_with_offsets

    spans: list[tuple[int, int]] = []
    segmented = 0
    for offset, paragraph in preprocess_with_offsets(text):
        if not _SEPARATORS.search(paragraph):
            start = offset + len(paragraph) - len(paragraph.lstrip())
            spans.append((start, start + len(paragraph.strip())))
            continue
        for start, end, is_sentence in _pieces(paragraph):
            if is_sentence:
                spans.append((offset + start, offset + end))
            else:
                segmented += end - start
                sentences = _segmented if segmented <= _MAX_SEGMENTED_CHARS else _simple_sentences
                spans += sentences(paragraph[start:end], offset + start)
    return spans


def _segmented(text: str, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a part of a paragraph, as the segmenter finds them."""
    from syntok import segmenter

    for paragraph in segmenter.analyze(text):
        for sentence in paragraph:
            if sentence:
                last = sentence[-1]
                yield offset + sentence[0].offset, offset + last.offset + len(last.value)


def _simple_sentences(text: str, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences that a mark before a blank ends, abbreviations included."""
    start = 0
    for end in _SIMPLE_END.finditer(text):
        sentence = text[start : end.end()]
        if stripped := sentence.strip():
            first = offset + start + sentence.index(stripped)
            yield first, first + len(stripped)
        start = end.end()


def _pieces(paragraph: str) -> list[tuple[int, int, bool]]:
    """Divide a paragraph where the segmenter surely does, which takes a tenth of its time.

    The segmenter decides at each mark by the words around it. An ordinary word before and a capital letter
    after the mark end a sentence, a small letter does not.

    Returns:
        Start and end of each piece, and whether it is one sentence; the segmenter divides the others.
    """
    if not _ORDINARY.fullmatch(paragraph) or paragraph != paragraph.strip():
        return [(0, len(paragraph), False)]
    pieces: list[tuple[int, int, bool]] = []
    start, depth, is_plain = 0, 0, True
    for event in _EVENT.finditer(paragraph):
        word, mark = event[1], event[2]
        if mark is None:
            depth += 1 if event[0] in _OPENING else -1
            is_plain = False
            if depth < 0:
                return [(0, len(paragraph), False)]
        elif event[3] is None:
            is_plain &= event[4] is not None or event.end() == len(paragraph) or _is_inside(paragraph, event)
        elif depth or not word or _is_special(word):
            is_plain = False
        else:
            pieces.append((start, event.end(2), is_plain))
            start, is_plain = event.end(), True
    if depth:
        return [(0, len(paragraph), False)]
    if start < len(paragraph):
        pieces.append((start, len(paragraph), is_plain))
    return pieces


def _is_inside(text: str, event: re.Match[str]) -> bool:
    """Return whether a full stop is between small letters or digits, as in 1.5."""
    around = text[event.start(2) - 1 : event.end(2) + 1] if event.start(2) else ""
    return event[2] == "." and len(around) == 3 and _is_small(around[0]) and _is_small(around[2])


def _is_small(char: str) -> bool:
    return "a" <= char <= "z" or "0" <= char <= "9"


def _is_special(word: str) -> bool:
    """Return whether the segmenter has rules for a word before a full stop."""
    return len(word) < 2 or word in _special_words()


@functools.cache
def _special_words() -> frozenset[str]:
    from syntok._segmentation_states import State

    return frozenset().union(State.abbreviations, State.roman_numerals, State.months, {"no", "No", "NO"})
