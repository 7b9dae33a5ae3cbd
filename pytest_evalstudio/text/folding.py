"""Characters that look alike, as one character."""

# ruff: noqa: E501  (patterns, tables and examples)

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_SPACES = "\t\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u02bc\uff07\u00b4\u1ffd"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_FULL_WIDTH = "".join(
    chr(0xFEE0 + code) for code in range(0x21, 0x7F) if chr(0xFEE0 + code) not in "\uff0d\uff07\uff02"
)
ZERO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
"""Inside of a character class: joiners, marks of direction, soft hyphens and variation selectors."""

_TABLE = {
    **dict.fromkeys(map(ord, _SPACES), " "),
    **dict.fromkeys(map(ord, _HYPHENS), "-"),
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, _QUOTES), '"'),
    **{ord(char): chr(ord(char) - 0xFEE0) for char in _FULL_WIDTH},
}
_ASCII_SPACES = "".join(filter(str.isascii, _SPACES))
_LOOK_ALIKE = re.compile(f"[{re.escape(''.join(map(chr, _TABLE)))}]")
_ZERO_WIDTH = re.compile(f"[{ZERO_WIDTH}]")
_BROKEN_NUMBER = re.compile(r"(?<=[0-9])\r?\n(?=[0-9$€£%]|[A-Z]{3}\b)")
"""A line break after a digit and before what belongs to the number; text before it was wrapped."""
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u093c\u09bc\u09be\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57"
    "\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1160-\u11ff\u1b35\u3099\u309a\U000110ba\U00011127"
    "\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
)
"""Second characters of Unicode's compositions, and marks that are reordered with them."""
_DECOMPOSED = re.compile(f"[^{_MARKS}][{_MARKS}]{{1,30}}")
"""A letter with its marks, or a Korean syllable in parts; more marks than that are no text."""


class Folded(NamedTuple):
    """Folded text, with the way back.

    Attributes:
        text: the folded text.
        origins: index in the original of each character, and its length; () where nothing moved.
    """

    text: str
    origins: Sequence[int] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the original text that a stretch of the folded one comes from.

        Marks and characters of zero width after its last character belong to it.
        """
        if not self.origins:
            return start, end
        return self.origins[start], self.origins[end]


_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|([bfnrt"/\\]))')
_ESCAPES = re.compile(r"\\+(?:u([0-9A-Fa-f]{4})|[bfnrt])")
"""Escapes with a letter or digits, with all backslashes before them: in nested JSON, these are doubled."""
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped_with_origins(text: str) -> tuple[str, Sequence[int]]:
    r"""Return a text with the escapes of JSON strings as the characters that they stand for.

    Args:
        text: any text; time is linear in its length.

    Returns:
        The text, and the index in the original of each of its characters and of its end; () where it has no
        escape.

    >>> unescaped_with_origins(r"a\nb")
    ('a\nb', [0, 1, 3, 4])
    """
    if "\\" not in text:
        return text, ()
    parts: list[str] = []
    origins: list[int] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        parts += text[position : match.start()], _escaped_character(match)
        origins += range(position, match.start() + 1)
        position = match.end()
    if not position:
        return text, ()
    origins += range(position, len(text) + 1)
    return "".join((*parts, text[position:])), origins


def with_escapes_of(text: str, masked: str) -> str:
    r"""Return a masked text in which the escapes of JSON are those of the original, or of asterisks.

    JSON stays JSON, also where it is in a string of JSON.

    Args:
        text: the original.
        masked: the same with asterisks in place of some letters and digits.

    >>> with_escapes_of(r"a\njane\u0062!", r"a\*****\*****!")
    'a\\n****\\u002a!'
    """
    parts: list[str] = []
    position = 0
    for match in _ESCAPES.finditer(text):
        start, end = match.span()
        if masked[start:end] != match[0]:
            is_shown = not match[1] or not chr(int(match[1], 16)).isalnum()
            parts += masked[position:start], match[0] if is_shown else f"{match[0][:-4]}002a"
            position = end
    return "".join((*parts, masked[position:]))


def _escaped_character(match: re.Match[str]) -> str:
    if match[2]:
        return _ESCAPED.get(match[2], match[2])
    character = chr(int(match[1], 16))
    # Half of a surrogate pair is no character that could be written.
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character


def fold_characters(text: str) -> str:
    r"""Return a text of the same length with plain spaces, dashes, quotes, digits and letters.

    >>> fold_characters("15\u202fUSD, long\u2011term, don\u2019t, \u22125, \uff11\uff15")
    "15 USD, long-term, don't, -5, 15"
    """
    if text.isascii():
        return text.translate(_TABLE) if _has_ascii_space(text) else text
    return text.translate(_TABLE) if _LOOK_ALIKE.search(text) else text


def _has_ascii_space(text: str) -> bool:
    """Return True for an ASCII text with a blank that is folded."""
    # A search for one character is so fast that seven take a tenth of the time of a pattern.
    for space in _ASCII_SPACES:  # noqa: SIM110  (a generator takes longer than the searches)
        if space in text:
            return True
    return False


def fold(text: str) -> str:
    r"""Return a text as it is compared: plain characters, none of zero width, numbers in one line, composed.

    Args:
        text: any text; time is linear in its length.

    >>> fold("1\u200b5\nUSD")
    '15 USD'
    """
    return fold_with_origins(text).text


def same_characters(first: str, second: str) -> bool:
    r"""Return True if two texts have the same characters but for look-alikes; line breaks count.

    >>> same_characters("don\u2019t", "don't"), same_characters("1\n2", "1 2")
    (True, False)
    """
    if first == second:
        return True
    # Nothing in them can be folded, and they differ.
    if first.isascii() and second.isascii() and not _has_ascii_space(f"{first}{second}"):
        return False
    return (
        fold_with_origins(first, join_numbers=False).text
        == fold_with_origins(second, join_numbers=False).text
    )


def fold_with_origins(text: str, *, join_numbers: bool = True) -> Folded:
    r"""Return a text as it is compared, with the way back to its characters.

    Args:
        text: any text; time is linear in its length.
        join_numbers: take a line break within a number, such as that of a card, for a blank.

    >>> folded = fold_with_origins("a\u200bb c")
    >>> folded.text, folded.span(1, 2)
    ('ab c', (2, 3))
    """
    plain = fold_characters(text)
    if join_numbers and "\n" in plain:
        plain = _BROKEN_NUMBER.sub(lambda match: " " * len(match[0]), plain)
    # ASCII has neither marks nor characters of zero width.
    if plain.isascii():
        return Folded(plain)
    is_composed = unicodedata.is_normalized("NFC", plain)
    if is_composed and not _ZERO_WIDTH.search(plain):
        return Folded(plain)
    parts: list[str] = []
    origins: list[int] = []
    position = 0
    pattern = _ZERO_WIDTH if is_composed else _REMOVED_OR_DECOMPOSED
    for match in pattern.finditer(plain):
        composed = "" if _ZERO_WIDTH.match(match[0]) else unicodedata.normalize("NFC", match[0])
        parts += plain[position : match.start()], composed
        origins += range(position, match.start())
        # All characters of a composition come from the place where it begins.
        origins += [match.start()] * len(composed)
        position = match.end()
    origins += range(position, len(plain) + 1)
    return Folded("".join((*parts, plain[position:])), origins)


_REMOVED_OR_DECOMPOSED = re.compile(f"{_ZERO_WIDTH.pattern}|{_DECOMPOSED.pattern}|[^\x00-\x7f]")
"""A character by itself may have another form, e.g. the sign of kelvin."""
