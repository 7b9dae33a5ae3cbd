"""Sensitive spans of a text and their masked description."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from pytest_evalstudio.text.folding import fold_with_origins, unescaped_with_origins

RawSpan = tuple[int, int, str]
"""Start, end and kind of a span."""
RawSpans = Iterator[RawSpan]

HYPHEN = "[-‐‑–]"
"""Pattern of hyphens in model output: ASCII, U+2010, non-breaking U+2011, en dash."""
_ALPHANUMERIC = re.compile(r"[^\W_]")
_ASCII_MASK = str.maketrans(dict.fromkeys(string.ascii_letters + string.digits, "*"))
"""The same for ASCII texts, in a fraction of the time."""
_SHOWN_CHARS = 40
_ESCAPED_LAYERS = 3
"""JSON in a string of JSON in a string of JSON, such as the result of a tool in a log."""


def lazy(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Return a function that compiles the pattern on its first call.

    Most texts need few of the patterns, and start-up needs none.

    Args:
        pattern: regular expression.
        flags: flags of `re.compile`.

    >>> lazy("[0-9]+")().pattern
    '[0-9]+'
    """
    return functools.cache(lambda: re.compile(pattern, flags))


def overlapping_matches(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield matches that may overlap, at most one per start position.

    In a row of numbers any stretch may be the number that a detector looks for.

    Args:
        pattern: regular expression.
        text: any text.
        start: first position that is searched.
        end: position after the last that is searched.

    >>> [match[0] for match in overlapping_matches(re.compile("[0-9]{2}"), "123", 0, 3)]
    ['12', '23']
    """
    match = pattern.search(text, start, end)
    while match:
        yield match
        match = pattern.search(text, match.start() + 1, end)


def spans_in_original(
    text: str, detect: Callable[[str, str], list[RawSpan]], lower: str = ""
) -> list[RawSpan]:
    """Return the spans of a detector that reads plain characters, by positions of the text as it is.

    A text with escapes of JSON is read as it is, and as its strings are meant: in the text itself, the "n" of
    a line break would be a part of the token after it.

    Args:
        text: any text.
        detect: takes the text with look-alikes folded, and the same in lower case or "".
        lower: the text in lower case, if the caller has computed it.
    """
    spans = _folded_spans(text, detect, lower)
    meant, origins = unescaped_with_origins(text)
    for _ in range(_ESCAPED_LAYERS):
        if not origins:
            break
        spans += [(origins[start], origins[end], kind) for start, end, kind in _folded_spans(meant, detect)]
        meant, positions = unescaped_with_origins(meant)
        origins = [origins[position] for position in positions]
    return spans


def _folded_spans(text: str, detect: Callable[[str, str], list[RawSpan]], lower: str = "") -> list[RawSpan]:
    folded = fold_with_origins(text)
    if folded.text == text:
        return detect(text, lower)
    return [(*folded.span(start, end), kind) for start, end, kind in detect(folded.text, "")]


class Hit(Struct, frozen=True, order=True):
    """Sensitive span of a text.

    Attributes:
        start: index of the first character.
        end: index after the last character, so that `text[start:end]` is the span.
        kind: category in words, e.g. "IBAN".
        masked: the span with every letter and digit replaced by `*`, shortened.
    """

    start: int
    end: int
    kind: str
    masked: str = ""


def mask(text: str) -> str:
    """Replace every letter and digit by `*`.

    Args:
        text: any text.

    Returns:
        A text of the same length.

    >>> mask("4111-1111 a.b@c.de")
    '****-**** *.*@*.**'
    """
    return text.translate(_ASCII_MASK) if text.isascii() else _ALPHANUMERIC.sub("*", text)


def describe(hit: Hit) -> str:
    """Return kind and masked form of a hit, fit for messages and reports.

    Args:
        hit: a sensitive span.

    >>> describe(Hit(0, 11, "US social security number", "***-**-****"))
    'US social security number (***-**-****)'
    """
    return f"{hit.kind} ({hit.masked})" if hit.masked else hit.kind


def merge_spans(text: str, spans: Iterable[RawSpan]) -> list[Hit]:
    """Sort spans and join those that overlap.

    Args:
        text: the text that the spans refer to.
        spans: start, end and kind of each span, in any order.

    Returns:
        Hits in order, none overlapping another; a joined hit has the kind of its longest span.

    >>> hits = merge_spans("abcdefgh", [(4, 8, "b"), (0, 2, "a"), (3, 5, "c")])
    >>> [(hit.start, hit.end, hit.kind) for hit in hits]
    [(0, 2, 'a'), (3, 8, 'b')]
    """
    joined: list[tuple[int, int, str, int]] = []
    for start, end, kind in sorted(spans):
        if joined and start < joined[-1][1]:
            first, last, other, length = joined[-1]
            if end - start > length:
                other, length = kind, end - start
            joined[-1] = (first, max(last, end), other, length)
        else:
            joined.append((start, end, kind, end - start))
    return [Hit(start, end, kind, _shown(text[start:end])) for start, end, kind, _ in joined]


def _shown(text: str) -> str:
    masked = " ".join(mask(text[: 2 * _SHOWN_CHARS]).split())
    return masked if len(masked) <= _SHOWN_CHARS else masked[: _SHOWN_CHARS - 1] + "…"
