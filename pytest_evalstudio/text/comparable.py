"""Texts as evaluators compare them: in Unicode's composed form, without invisible characters.

Places in a compared text are mapped back to the original.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from array import array
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.text.folding import ZERO_WIDTH

if TYPE_CHECKING:
    import regex

MAX_MARKS = 30
"""Marks that are normalised together, as in Unicode's stream-safe format.

Normalising a run of marks takes time that grows with the square of its length.
"""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_CACHED_TEXTS = 512  # evaluators of one chunk ask for the same texts one after another


class ComparableText(Struct, frozen=True):
    """A text as it is compared.

    Attributes:
        text: the compared text.
        starts: place of each of its characters in the original, and the end of that; None where both are
            equal.
    """

    text: str
    starts: array[int] | None = None

    def place(self, index: int) -> int:
        """Return the place in the original of a place in the compared text."""
        return index if self.starts is None else self.starts[min(index, len(self.starts) - 1)]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the original that a stretch of the compared text comes from."""
        after = end
        if self.starts is not None and start < end:
            # Several characters may come from one place: a letter with many marks is one stretch.
            while after < len(self.starts) - 1 and self.starts[after] == self.starts[end - 1]:
                after += 1
        return self.place(start), self.place(after)


def comparable_text(text: str, *, keeps_invisible: bool = False) -> ComparableText:
    """Return a text in the composed form (NFC) and without invisible characters, in linear time.

    Compatibility forms (width, ligatures) and case are not folded.

    >>> comparable_text("Sazba u\u0301ve\u030cru").text == "Sazba \u00fav\u011bru"
    True
    """
    return _compared(text, keeps_invisible) if may_differ(text) else ComparableText(text)


def may_differ(text: str) -> bool:
    """Return whether a text has marks, invisible characters, or characters with another composed form."""
    return not text.isascii() and _has_special(text)


@functools.cache
def _special() -> regex.Pattern[str]:
    """Return the pattern of what may be compared in another form; ASCII texts need no such pattern."""
    import regex

    return regex.compile(
        rf"(?P<invisible>[{ZERO_WIDTH}]+)|[^\p{{M}}]?(?:(?![{ZERO_WIDTH}])[\p{{M}}\u1160-\u11ff])+"
    )


@functools.lru_cache(maxsize=_CACHED_TEXTS)
def _has_special(text: str) -> bool:
    # A text has few distinct characters beyond ASCII; to search all of it takes ten times as long.
    characters = set("".join(_NOT_ASCII.findall(text)))
    return any(map(_is_special, characters)) or not unicodedata.is_normalized("NFC", text)


@functools.lru_cache(maxsize=4096)
def _is_special(character: str) -> bool:
    return _special().match(character) is not None


@functools.lru_cache(maxsize=_CACHED_TEXTS)
def _compared(text: str, keeps_invisible: bool) -> ComparableText:
    pieces: list[str] = []
    starts = array("L")
    end = 0
    for match in _special().finditer(text):
        _add_plain(text[end : match.start()], end, pieces, starts)
        end = match.end()
        if match["invisible"] is None or keeps_invisible:
            _add_marked(match.group(), match.start(), pieces, starts)
    _add_plain(text[end:], end, pieces, starts)
    compared = "".join(pieces)
    if compared == text:
        return ComparableText(text)
    starts.append(len(text))
    return ComparableText(compared, starts)


def _add_plain(part: str, at: int, pieces: list[str], starts: array[int]) -> None:
    """Add a part without marks."""
    if unicodedata.is_normalized("NFC", part):
        pieces.append(part)
        starts.extend(range(at, at + len(part)))
        return
    for index, char in enumerate(part, at):  # a single character has another form, such as the ohm sign
        composed = unicodedata.normalize("NFC", char)
        pieces.append(composed)
        starts.extend([index] * len(composed))


def _add_marked(part: str, at: int, pieces: list[str], starts: array[int]) -> None:
    for begin in range(0, len(part), MAX_MARKS + 1):
        piece = part[begin : begin + MAX_MARKS + 1]
        composed = unicodedata.normalize("NFC", piece)
        pieces.append(composed)
        if composed == piece:
            starts.extend(range(at + begin, at + begin + len(piece)))
        else:
            starts.extend([at + begin] * len(composed))


def differs_in_form(text: str) -> bool:
    """Return whether a text is compared in another form than it has."""
    return comparable_text(text).starts is not None
