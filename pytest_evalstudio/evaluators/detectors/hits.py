"""Where something was found in a text, and how to speak of it without repeating it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass


def lazy(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A pattern that is compiled when first asked for: most texts ask for few, and start-up for none."""
    return functools.cache(lambda: re.compile(pattern, flags))


_ALPHANUMERIC = re.compile(r"[^\W_]")
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A stretch of a text that must not leave.

    Attributes:
        start, end: characters, `text[start:end]`.
        kind: what it is, in words for people.
        masked: the stretch with every letter and digit replaced, shortened.
    """

    start: int
    end: int
    kind: str
    masked: str = ""


def mask(text: str) -> str:
    """A text of the same length with every letter and digit replaced by `*`.

    >>> mask("4111-1111 a.b@c.de")
    '****-**** *.*@*.**'
    """
    return _ALPHANUMERIC.sub("*", text)


def describe(hit: Hit) -> str:
    """Kind and masked form of a hit, fit for messages and reports.

    >>> describe(Hit(0, 11, "US social security number", "***-**-****"))
    'US social security number (***-**-****)'
    """
    return f"{hit.kind} ({hit.masked})" if hit.masked else hit.kind


def merged(text: str, found: Iterable[tuple[int, int, str]]) -> list[Hit]:
    """Hits in order, those that overlap joined into one of the longest's kind.

    >>> [(hit.start, hit.end, hit.kind) for hit in merged("abcdefgh", [(4, 8, "b"), (0, 2, "a"), (3, 5, "c")])]
    [(0, 2, 'a'), (3, 8, 'b')]
    """  # noqa: E501
    joined: list[tuple[int, int, str, int]] = []
    for start, end, kind in sorted(found):
        if joined and start < joined[-1][1]:
            first, last, other, length = joined[-1]
            if end - start > length:
                other, length = kind, end - start
            joined[-1] = (first, max(last, end), other, length)
        else:
            joined.append((start, end, kind, end - start))
    return [Hit(start, end, kind, _shown(text[start:end])) for start, end, kind, _ in joined]


def _shown(text: str) -> str:
    hidden = " ".join(mask(text[: 2 * _SHOWN_CHARS]).split())
    return hidden if len(hidden) <= _SHOWN_CHARS else hidden[: _SHOWN_CHARS - 1] + "…"
