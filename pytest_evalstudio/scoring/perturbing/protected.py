"""Protected spans: what a perturbation that keeps the meaning leaves as it is.

A span is replaced by one character of Unicode's private use area before the text is changed, and put back
afterwards. No perturbator has to know about spans, and none can change one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from msgspec import Struct

from pytest_evalstudio.core.plugins.perturbator import MARK, Protected
from pytest_evalstudio.scoring.perturbing.protected_words import (
    ABBREVIATIONS,
    ACRONYMS,
    CALENDAR,
    CONNECTORS,
    PRONOUNS,
    SMALL_IN_TITLES,
    SPOKEN_NUMBERS,
    STARTERS,
    TITLES,
    UNITS,
)

# The private use area of Unicode: ordinary texts have none of its characters, no perturbator changes them.
_FIRST_MARK, _MARKS = 0xE000, 6400

_CODE = re.compile(r"```[^`]*```|`[^`\n]+`")
_URL = re.compile(r"\b(?:https?|ftp|file|s3|mailto):[^\s<>\"'`]+|\bwww\.[^\s<>\"'`]+", re.IGNORECASE)
# An opening mark inside ends the search, so that many unmatched ones take linear time.
_QUOTATION = re.compile(
    r"\"[^\"\n]+\"|“[^“”\n]+”|„[^„“”\n]+[“”]|«[^«»\n]+»|»[^«»\n]+«|‘(?:[^‘’\n]|(?<=\w)’(?=\w))+’(?!\w)"
    r"|(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w))+'(?!\w)"
)
# Scripts without spaces between words: a number there ends with its digits.
_UNSPACED = "\u0e00-\u0eff\u2e80-\ud7ff\uf900-\ufaff"
_TOKEN = re.compile(rf"[^\s{_UNSPACED}]+")
_OUTER = "()[]\"'“”‘’«»„¿¡,;:.!?…？！。、，"
_IDENTIFIER = re.compile(r"[@_#\\{}<>=$%&*+|~^/€£¥]|[^\W\d_]\.[^\W\d_]|[a-z][A-Z]|^--?\w")
# Possessive: letters that could be divided among repeats would take exponential time where the token goes on.
_QUANTITY = re.compile(r"\W*+\d++(?:\W\d++)*+(?:-?[^\W\d_]++)*+\W*+")
_PLAIN_SLASHES = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)+")
_CURRENCY = "$€£¥₹₽₩"

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class ProtectedSpan(Struct, frozen=True):
    """Protected part of a text."""

    start: int
    end: int
    kind: Protected


class MaskedText(Struct, frozen=True):
    """A text with one mark in place of each protected span.

    Attributes:
        text: the text that a perturbator may change, except for the marks.
        spans: the texts of the spans, in their order.
    """

    text: str
    spans: tuple[str, ...]

    def is_intact(self, text: str) -> bool:
        """Return True if a changed text has all marks in their order, and no others."""
        return MARK.findall(text) == [_mark(number) for number in range(len(self.spans))]

    def restore(self, text: str) -> str:
        """Return an intact changed text with the spans in place of the marks."""
        spans = iter(self.spans)
        return MARK.sub(lambda _: next(spans), text)


def mask(text: str, unprotected: Collection[Protected] = ()) -> MaskedText:
    """Replace the protected spans of a text by marks.

    Args:
        unprotected: kinds that the perturbator changes on purpose.

    >>> masked = mask("Does Anna pay EUR 1,250.00 within 30 days?")
    >>> len(masked.text), masked.spans
    (24, ('Anna', 'EUR', '1,250.00', '30 days'))
    """
    parts: list[str] = []
    spans: list[str] = []
    end = 0
    for span in protected_spans(text, unprotected):
        parts += [text[end : span.start], _mark(len(spans))]
        spans.append(text[span.start : span.end])
        end = span.end
    return MaskedText("".join([*parts, text[end:]]), tuple(spans))


def protected_spans(text: str, unprotected: Collection[Protected] = ()) -> list[ProtectedSpan]:
    """Return the protected spans of a text in their order, without overlaps.

    Overlapping spans are joined; the first one names the kind.
    """
    found = [span for span in _candidates(text) if span.kind not in unprotected]
    merged: list[ProtectedSpan] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = ProtectedSpan(merged[-1].start, span.end, merged[-1].kind)
        else:
            merged.append(span)
    return merged


def _mark(number: int) -> str:
    return chr(_FIRST_MARK + number % _MARKS)


def _candidates(text: str) -> Iterator[ProtectedSpan]:
    patterns: tuple[tuple[re.Pattern[str], Protected], ...] = (
        (_CODE, "code"),
        (_URL, "url"),
        (_QUOTATION, "quotation"),
        (MARK, "identifier"),
    )
    for pattern, kind in patterns:
        yield from (ProtectedSpan(*match.span(), kind) for match in pattern.finditer(text))
    yield from _tokens(text)
    yield from _amounts_in_words(text)
    yield from _names(text)


def _tokens(text: str) -> Iterator[ProtectedSpan]:
    """Yield tokens with digits, with the unit that follows, and tokens that are no words."""
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(_OUTER)
        start = match.start() + len(token) - len(token := token.lstrip(_OUTER))
        if any(map(str.isnumeric, token)):
            kind: Protected = "number" if _QUANTITY.fullmatch(token) else "identifier"
            yield ProtectedSpan(start, _end_with_units(text, start + len(token)), kind)
        elif (
            _IDENTIFIER.search(token) and any(map(str.isalpha, token)) and not _PLAIN_SLASHES.fullmatch(token)
        ) or any(char in _CURRENCY for char in token):
            yield ProtectedSpan(start, start + len(token), "identifier")


def _amounts_in_words(text: str) -> Iterator[ProtectedSpan]:
    """Yield numbers that are written as words, with the unit that follows, and days and months."""
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in CALENDAR:
            yield ProtectedSpan(*match.span(), "date")
        elif match.start() >= end and not SPOKEN_NUMBERS.isdisjoint(word.split("-")):
            end = _end_with_units(text, match.end())
            yield ProtectedSpan(match.start(), end, "number")


def _end_with_units(text: str, end: int) -> int:
    """Return the end of a number with the units and numerals that follow it."""
    while match := _NEXT_WORD.match(text, end):
        word = match[1].lower()
        if word not in UNITS and word not in SPOKEN_NUMBERS:
            break
        end = match.end()
    return end


_NEXT_WORD = re.compile(r"[ \u00a0-]([^\W\d_]+(?:['’.-][^\W\d_]+)*)(?!\w)")


def _names(text: str) -> Iterator[ProtectedSpan]:
    """Yield capitalised words that do not begin a sentence, joined with what connects them.

    The first word of a sentence is a name if a name follows it directly, if it has an inner capital, or if it
    is capitalised elsewhere in the text too.
    """
    words = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
    if text.isupper() or not words:  # in a text of capitals alone they tell nothing
        return
    initial = [_begins_sentence(text, start) for start, *_ in words]
    capital = [any(map(str.isupper, word)) and not _is_emphasis(word) for *_, word in words]
    if _is_title_case(words, initial):
        capital = [len(word) > 1 and word.isupper() for *_, word in words]
        initial = [False] * len(words)
    elsewhere = {
        word
        for (*_, word), is_capital, is_initial in zip(words, capital, initial, strict=True)
        if is_capital and not is_initial
    }
    names = [
        is_capital and (not is_initial or _is_initial_name(text, words, capital, number, elsewhere))
        for number, (is_capital, is_initial) in enumerate(zip(capital, initial, strict=True))
    ]
    numbers = [number for number, is_name in enumerate(names) if is_name]
    yield from (ProtectedSpan(*words[number][:2], "name") for number in numbers)
    for first, last in pairwise(numbers):
        between = words[first + 1 : last]
        if len(between) in (1, 2) and all(word in CONNECTORS for *_, word in between):
            start, end = words[first][0], words[last][1]
            if set(text[words[first][1] : words[last][0]]) <= _LETTERS_AND_BLANK:
                yield ProtectedSpan(start, end, "name")


_LETTERS_AND_BLANK = frozenset("abcdefghijklmnopqrstuvwxyz ")


def _is_emphasis(word: str) -> bool:
    """Return whether a capitalised word is a form of "I" or a function word in capitals, as in "NOT"."""
    low = word.lower().replace("’", "'")
    return low in PRONOUNS or (word.isupper() and low in STARTERS and word not in ACRONYMS)


def _is_initial_name(
    text: str, words: list[tuple[int, int, str]], capital: list[bool], number: int, elsewhere: set[str]
) -> bool:
    """Return whether the capitalised word that begins a sentence is a name."""
    _, end, word = words[number]
    low = word.lower().replace("’", "'")
    if low in TITLES or (len(word) > 1 and not word[1:].islower() and low not in STARTERS):
        return True
    if low in STARTERS:
        return False
    if word in elsewhere or low.endswith("'s"):
        return True
    follows = number + 1 < len(words) and text[end : words[number + 1][0]] == " "
    return follows and capital[number + 1]


def _is_title_case(words: list[tuple[int, int, str]], initial: list[bool]) -> bool:
    """Return whether the words inside sentences are capitalised as in a headline, function words included."""
    inner = [word for (*_, word), is_initial in zip(words, initial, strict=True) if not is_initial]
    if any(word[0].islower() and word not in SMALL_IN_TITLES for word in inner):
        return False
    return any(word.istitle() and word.lower() in STARTERS for word in inner)


def _begins_sentence(text: str, start: int) -> bool:
    """Return whether the word at a position begins a sentence."""
    end = start
    while end and (text[end - 1].isspace() or text[end - 1] in "\"'“‘«„([¿¡*-–—•>"):
        if text[end - 1] == "\n":
            return True
        end -= 1
    if not end:
        return True
    if text[end - 1] not in ".!?:…":
        return False
    if text[end - 1] != ".":
        return True
    last = (
        text[: end - 1].rpartition(" ")[2] if end < _NEAR else text[end - _NEAR : end - 1].rpartition(" ")[2]
    )
    return not (len(last) == 1 and last.isupper()) and last.lower().lstrip(_OUTER) not in ABBREVIATIONS


_NEAR = 40
"""Length of the text before a full stop in which an abbreviation is looked for."""
