"""Texts that are hidden in base16, base64 or lists of character codes."""

from __future__ import annotations

import binascii
import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

Runs = Iterator[tuple[int, int, str]]
"""Start and end of encoded stretches, and their decoded text, "" where it is not readable."""

_MAX_LAYERS = 3
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0[xX])?((?:[0-9A-Fa-f]{2}){6,})(?![0-9A-Za-z])")
_PAIR = r"(?:0[xX]|\\x)?[0-9A-Fa-f]{2}"
_SPACED_HEX = re.compile(
    rf"(?<![0-9A-Za-z])(?:{_PAIR}(?:[ \t\r\n,:;-]{{1,3}}|(?=\\x))){{2,}}{_PAIR}(?![0-9A-Za-z])"
)
_HEX_PAIR = re.compile(r"(?:0[xX]|\\x)?([0-9A-Fa-f]{2})")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}")
_HINTED_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{4,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}")

_PIECES = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]++(?:[\s>]{1,8}[A-Za-z0-9+/_-]++)++={0,2}")
_PIECE = re.compile(r"[A-Za-z0-9+/_-]+")
_UNLIKE_WORDS = re.compile(r"[A-Za-z+/][0-9A-Z+/]|[0-9][A-Za-z+/]|\s[0-9A-Za-z]\s")
"""In base64, but not in a few words of prose: capitals and digits within a piece, or pieces of one letter."""
_FIRST = frozenset("CDIJKLMNOPQRSTUVWXYZabcdefwxyz0123456789")
"""First characters of base64 whose first byte begins readable text in UTF-8."""
_MIN_BROKEN_CHARS, _MIN_HINTED_CHARS = 12, 8
_TO_STANDARD = str.maketrans("-_", "+/")

_NUMBERS = re.compile(r"(?<![\w.])[0-9]{1,7}(?:[ \t\r\n,;+|\[\]()]{1,4}[0-9]{1,7}){2,}(?!\w|\.[0-9])")
_NUMBER = re.compile(r"[0-9]+")
_MARKED = (
    r"(?:&#[xX]?[0-9A-Fa-f]{1,6};|\\u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\})|\\[0-7]{2,3}"
    r"|[uU]\+[0-9A-Fa-f]{4,6}|0[oO][0-7]{1,7}|0[xX][0-9A-Fa-f]{1,6}|(?:chr|char|CHAR|CHR)\([0-9]{1,7}\))"
)
_MARKED_CODES = re.compile(rf"{_MARKED}(?:[ \t\r\n,;+.&|-]{{0,4}}{_MARKED}){{2,}}")
_MARKED_CODE = re.compile(
    r"&#(?P<decimal>[0-9]{1,7});|(?:chr|char|CHAR|CHR)\((?P<called>[0-9]{1,7})\)"
    r"|(?:&#[xX]|\\u\{?|[uU]\+|0[xX])(?P<base16>[0-9A-Fa-f]{1,6})|(?:\\|0[oO])(?P<octal>[0-7]{1,7})"
)
_BASES = {"decimal": 10, "called": 10, "base16": 16, "octal": 8}
_MIN_CODES, _MIN_HINTED_CODES = 6, 3
"""Fewer numbers are a telephone number or a series of figures, unless the case is about encodings."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A stretch of a text, and its decoded text.

    Attributes:
        is_list: whether it is a list of numbers, which may be what they are as well.
    """

    start: int
    end: int
    text: str
    is_list: bool = False


def decode_hidden(text: str, hinted: bool = False) -> list[Decoded]:
    """Return the readable text that is encoded in a text.

    Args:
        text: any text; time is linear in its length.
        hinted: the case is known to be about encodings, so shorter runs are tried too.

    Returns:
        Stretches in order of place, none overlapping another. One that decodes as base16 and base64 has the
        first of them that is readable; a list of numbers has all its readings.

    >>> [item.text for item in decode_hidden("sure: 53 53 4e 20 6f 6b and U1NOIDIx OS0wOS05OTk5")]
    ['SSN ok', 'SSN 219-09-9999']
    """
    return [replace(item, text=_all_layers(item.text, _MAX_LAYERS - 1)) for item in _decoded(text, hinted)]


def _decoded(text: str, hinted: bool) -> list[Decoded]:
    decoded: list[Decoded] = []
    for runs in (_spaced_hex(text), _plain_hex(text)):
        decoded = _with_others(decoded, runs)
    # Numbers of two digits are pairs of base16 as well, and readable either way: both readings count.
    lists = [Decoded(*run, is_list=True) for run in _numbers(text, hinted)]
    decoded = _joined([*decoded, *lists, *(Decoded(*run) for run in _marked_codes(text, hinted))])
    for runs in (_broken_base64(text, hinted), _base64(text, hinted)):
        decoded = _with_others(decoded, runs)
    return decoded


def _with_others(decoded: list[Decoded], runs: Runs) -> list[Decoded]:
    """Return what is decoded with the readable runs that overlap none of it, in order of place."""
    others = []
    index = 0
    for start, end, plain in runs:  # in order of place, as `decoded`
        while index < len(decoded) and decoded[index].end <= start:
            index += 1
        if plain and not (index < len(decoded) and decoded[index].start < end):
            others.append(Decoded(start, end, plain))
    return sorted([*decoded, *others], key=lambda item: item.start)


def _joined(decoded: list[Decoded]) -> list[Decoded]:
    """Return one stretch with all readings for those that overlap."""
    joined: list[Decoded] = []
    readings: list[list[str]] = []
    for item in sorted(decoded, key=lambda item: item.start):
        if joined and item.start < joined[-1].end:
            end, is_list = max(joined[-1].end, item.end), joined[-1].is_list or item.is_list
            joined[-1] = Decoded(joined[-1].start, end, "", is_list)
            readings[-1].append(item.text)
        else:
            joined.append(item)
            readings.append([item.text])
    return [replace(item, text="\n".join(texts)) for item, texts in zip(joined, readings, strict=True)]


def _all_layers(text: str, layers: int) -> str:
    """Return the text followed by the texts encoded in it, layer by layer."""
    if layers < 1:
        return text
    return "\n".join([text, *(_all_layers(item.text, layers - 1) for item in _decoded(text, False))])


def _spaced_hex(text: str) -> Runs:
    for match in _SPACED_HEX.finditer(text):
        yield *match.span(), _readable(bytes.fromhex("".join(_HEX_PAIR.findall(match[0]))))


def _plain_hex(text: str) -> Runs:
    for match in _HEX.finditer(text):
        yield *match.span(), _readable(bytes.fromhex(match[1]))


def _base64(text: str, hinted: bool) -> Runs:
    for match in (_HINTED_BASE64 if hinted else _BASE64).finditer(text):
        compact = "".join(match[0].split()).rstrip("=")
        if len(compact) % 4 != 1:  # four characters are three bytes: a single one left over is none
            yield *match.span(), _readable(_of_base64(compact))


def _of_base64(compact: str) -> bytes:
    """Return the bytes of base64 of any alphabet without its padding."""
    return binascii.a2b_base64(compact.translate(_TO_STANDARD) + "=" * (-len(compact) % 4))


# -- base64 in pieces


def _broken_base64(text: str, hinted: bool) -> Runs:
    """Return base64 that is broken into pieces by white space at any positions.

    Words of prose are in the alphabet, too, and a run may be in the middle of a sentence. It begins with a
    word whose first characters are readable text when they are decoded, and ends where they no longer are.
    Words of lower-case letters are none, since a few of them are readable by chance in one text of a hundred.
    """
    min_chars = _MIN_HINTED_CHARS if hinted else _MIN_BROKEN_CHARS
    for match in _PIECES.finditer(text):
        pieces = [piece.span() for piece in _PIECE.finditer(text, *match.span())]
        compact = "".join(text[start:end] for start, end in pieces)
        ends = [*accumulate(end - start for start, end in pieces)]
        index = 0
        while index < len(pieces) - 1:
            first = ends[index] - pieces[index][1] + pieces[index][0]
            last = _last_piece(compact, first, index, ends) if compact[first] in _FIRST else index
            chars = ends[last] - first
            plain = _readable(_of_base64(compact[first : ends[last]])) if chars % 4 != 1 else ""
            is_long = last > index and chars >= min_chars
            if is_long and plain and _UNLIKE_WORDS.search(text, pieces[index][0], pieces[last][1]):
                yield pieces[index][0], pieces[last][1], plain
            index = last + 1  # also where nothing is read: a run is decoded once, so that the time is linear


def _last_piece(compact: str, first: int, index: int, ends: Sequence[int]) -> int:
    """Return the last piece up to which base64 from a position is readable text, `index` if none is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = first
    try:
        while position + 4 <= len(compact):
            plain = decoder.decode(_of_base64(compact[position : position + 4]))
            if not plain.isprintable() and not _is_text(plain):
                break
            position += 4
    except UnicodeDecodeError:
        pass
    # The characters after the last whole block may be the rest of the last piece.
    last = index
    while last + 1 < len(ends) and ends[last + 1] <= position + 3:
        last += 1
    while last > index and (
        (ends[last] - first) % 4 == 1 or not _readable(_of_base64(compact[first : ends[last]]))
    ):
        last -= 1
        if ends[last] <= position - 4:
            break
    return last


# -- character codes


def _numbers(text: str, hinted: bool) -> Runs:
    """Return lists of character codes in decimal or octal, in both readings."""
    for match in _NUMBERS.finditer(text):
        numbers = [(*number.span(), number[0]) for number in _NUMBER.finditer(text, *match.span())]
        yield from _readings([(start, end, int(digits)) for start, end, digits in numbers], hinted)
        octal = [
            (start, end, int(digits, 8) if digits.isdecimal() and not set(digits) & {"8", "9"} else -1)
            for start, end, digits in numbers
        ]
        # Beyond ASCII, octal numbers are any numbers without the digits 8 and 9.
        yield from _readings([(s, e, code if code < 127 else -1) for s, e, code in octal], hinted)


def _marked_codes(text: str, hinted: bool) -> Runs:
    r"""Return runs of codes with a mark: `&#83;`, `\u0053`, `\123`, `U+0053`, `0x53`, `chr(83)`."""
    for match in _MARKED_CODES.finditer(text):
        codes = [
            (*code.span(), int(code[code.lastgroup or 0], _BASES[code.lastgroup or ""]))
            for code in _MARKED_CODE.finditer(text, *match.span())
        ]
        yield from _readings(codes, hinted)


def _readings(codes: Sequence[tuple[int, int, int]], hinted: bool) -> Runs:
    """Return the runs of codes that are characters of a text, each with its text."""
    run: list[tuple[int, int, str]] = []
    for start, end, code in (*codes, (0, 0, -1)):
        char = chr(code) if 0 <= code <= 0x10FFFF else ""
        if char and _is_text(char):
            run.append((start, end, char))
            continue
        plain = "".join(each for _, _, each in run)
        min_codes = _MIN_HINTED_CODES if hinted and plain.isascii() else _MIN_CODES
        if len(run) >= min_codes and any(each.isalnum() for each in plain):
            yield run[0][0], run[-1][1], plain
        run = []


def _is_text(text: str) -> bool:
    """Return whether all characters are printable, or white space of lines."""
    return text.isprintable() or all(char.isprintable() or char in "\n\r\t" for char in text)


def _readable(raw: bytes) -> str:
    """Return the bytes as text, or "" if they are not UTF-8 text with a letter or digit.

    Control characters are not readable text.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if _is_text(text) and any(char.isalnum() for char in text) else ""
