"""Comparison of texts by what they mean: whole words, numbers by value, JSON by value."""

# ruff: noqa: E501  (patterns, tables and examples)

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pytest_evalstudio.text.claims import stated_figures
from pytest_evalstudio.text.folding import fold, fold_with_origins
from pytest_evalstudio.text.units import MEASURES, same_unit
from pytest_evalstudio.text.values import number_value
from pytest_evalstudio.text.words import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")
_GAP = re.compile(rf"[\W{UNSPACED}]")
_BLANKS = re.compile(r"\s+")
_DIGITS = re.compile(r"[0-9]+")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`+)(.+)\1\Z", re.DOTALL)
_TEX = re.compile(
    r"(?:\$\$(.+)\$\$|\$([^$]+)\$|\\\((.+)\\\)|\\\[(.+)\\\]|\\(?:boxed|text|textbf|mathrm|mathbf)\{(.+)\})\Z",
    re.DOTALL,
)
"""A formula of LaTeX, or a command around a whole label."""
_BULLET = re.compile(r"\A- (?=\D)")
_DISTINCT = "#%&*/@\\§¶†‡‰‱٪※"
"""Punctuation by Unicode's categories that tells labels apart."""
_FENCE = re.compile(r"\s*```\w{0,20}\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def find_word(text: str, word: str) -> tuple[int, int] | None:
    """Return the first place of a word, number or phrase as a whole; None for none.

    A letter, digit or underscore beside it makes another word; a digit with a point or comma, or a sign
    before a number, another number. Case counts, and any white space is a blank.

    Args:
        text: any text; time is linear in its length.
        word: what is looked for, not blank.

    >>> find_word("It costs 15 USD.", "5 USD"), find_word("It costs 5 USD.", "5 USD")
    (None, (9, 14))
    """
    part = _BLANKS.sub(" ", fold(word)).strip()
    folded = fold_with_origins(text)
    plain = folded.text
    pattern = re.compile(r"\s+".join(map(re.escape, part.split(" "))))
    for match in pattern.finditer(plain):
        if not _continues(plain, part, match.start(), match.end()):
            return folded.span(*match.span())
    return None


def has_whole(text: str, part: str) -> bool:
    """Return True if a text has a part that ends in no longer word or number; both are folded already.

    >>> has_whole("c10", "c1"), has_whole("see c1.", "c1")
    (False, True)
    """
    position = text.find(part)
    while part and position >= 0:
        if not _continues(text, part, position, position + len(part)):
            return True
        following = position + 1
        if _joins(part[0]):  # the next word: each letter of a long one would take quadratic time
            gap = _GAP.search(text, following)
            following = gap.end() if gap else len(text)
        position = text.find(part, following)
    return not part


def has_part(text: str, part: str) -> bool:
    """Return True if a text has a part in which a number at an edge is the whole number; case counts.

    >>> has_part("15 USD", "5 USD"), has_part("illnesses", "illness"), has_part("FY2024", "2024")
    (False, True, True)
    """
    plain, wanted = fold(text), fold(part)
    position = plain.find(wanted)
    while wanted and position >= 0:
        if not _continues_number(plain, wanted, position, position + len(wanted)):
            return True
        position = plain.find(wanted, _end_of_number(plain, position))
    return not wanted


def _end_of_number(text: str, start: int) -> int:
    """Return the index after the digits at a position: each digit of a long row would take quadratic time."""
    match = _DIGITS.match(text, start)
    return match.end() if match else start + 1


def _continues(text: str, word: str, start: int, end: int) -> bool:
    """Return True if a word is a part of a longer one."""
    if _joins(word[0]) and start and _joins(text[start - 1]):
        return True
    if _joins(word[-1]) and end < len(text) and _joins(text[end]):
        return True
    return _continues_number(text, word, start, end)


def _continues_number(text: str, word: str, start: int, end: int) -> bool:
    """Return True if a number at the beginning or the end of a word is a part of a longer one."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    # A blank stands for the missing character, so that a sign at the beginning of the text is one.
    if word[0].isdigit() and re.search(
        r"[0-9]\Z|[0-9][.,']\Z|(?:\A|[\s(])-\Z", before if start > 1 else f" {before}"
    ):
        return True
    return word[-1].isdigit() and bool(re.match(r"[0-9]|[.,'][0-9]|%", after))


def _joins(char: str) -> bool:
    """Return True for a letter, digit, mark or underscore of a script with spaces between words."""
    is_part = char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")
    return is_part and not _UNSPACED.match(char)


def find_number(
    text: str, value: Fraction, *, tolerance: Fraction = Fraction(0), unit: str = ""
) -> tuple[int, int] | None:
    """Return the first place of a number with a value and, if given, a unit; None for none.

    Args:
        text: any text; time is linear in its length.
        value: in the unit.
        tolerance: largest difference that is accepted, in the unit.
        unit: as it is written, e.g. "USD" or "kg"; "" for any.

    >>> find_number("It costs $1,200.", Fraction(1200), unit="USD"), find_number("It costs 15 USD.", Fraction(5))
    ((9, 15), None)
    """
    measure = MEASURES.get(unit.casefold())
    for figure in stated_figures(text):
        if measure is not None:
            values = [
                reading.value / measure.factor
                for reading in figure.readings
                if reading.unit and same_unit(reading.unit, measure.name)
            ]
        else:
            values = list(figure.values)
        if any(abs(each - value) <= tolerance for each in values) and (
            not unit or measure is not None or _has_unit(text, figure.start, figure.end, unit)
        ):
            return figure.start, figure.end
    return None


def _has_unit(text: str, start: int, end: int, unit: str) -> bool:
    """Return True if a word that is no known unit stands directly after or before a number."""
    plain = fold(unit)
    # A little more than the unit, since folding and blanks can shorten the text.
    after = fold(text[end : end + len(unit) + 8]).lstrip(" -")
    before = fold(text[max(0, start - len(unit) - 8) : start]).rstrip(" ")
    return bool(
        re.match(rf"{re.escape(plain)}(?![A-Za-z0-9_])", after, re.IGNORECASE)
        or re.search(rf"(?<![A-Za-z0-9_]){re.escape(plain)}\Z", before, re.IGNORECASE)
    )


_MAX_WRAPPERS = 8
"""Signs of emphasis and brackets around a label that are removed, one in another: each takes a pass."""


def _is_punctuation(char: str) -> bool:
    """Return True for white space, quotes, and full stops, commas and the like of any script."""
    category = unicodedata.category(char)
    return char.isspace() or (category in ("Po", "Pi", "Pf") and char not in _DISTINCT)


def _without_edges(label: str) -> str:
    """Return a label without punctuation around it; the point of `.5` belongs to the number."""
    start, end = 0, len(label)
    while start < end and _is_punctuation(label[start]):
        if label[start] == "." and label[start + 1 : start + 2].isdigit():
            break
        start += 1
    while end > start and _is_punctuation(label[end - 1]):
        end -= 1
    return label[start:end]


def _inside_brackets(label: str) -> str:
    """Return what brackets of any script enclose, or the label as it is."""
    if len(label) < 3:
        return label
    first, last = label[0], label[-1]
    # Unicode has a closing bracket directly after the opening one, or one sign between them.
    is_pair = unicodedata.category(first) == "Ps" and ord(last) - ord(first) in (1, 2)
    if (is_pair and unicodedata.category(last) == "Pe") or (first, last) == ("<", ">"):
        return label[1:-1]
    return label


def normal_label(text: str) -> str:
    r"""Return a label without case, white space, quotes and punctuation around it.

    Signs that tell labels apart are kept: `<18`, `A*`, `C++`, `-1`. A label that is a number is its value,
    also before a percent sign.

    >>> [normal_label(text) for text in (' "Very  Positive." ', "<18", "A*", "**A**", "1,000", r"\frac{1}{2}", "是。")]
    ['very positive', '<18', 'a*', 'a', '1000', '1/2', '是']
    """
    label = " ".join(fold(text).casefold().split())
    # Each pass may bring another wrapper to the outside: "**(A).**".
    for _ in range(_MAX_WRAPPERS):
        stripped = _without_edges(_BULLET.sub("", label, count=1))
        if emphasis := _EMPHASIS.match(stripped):
            stripped = emphasis[2]
        if formula := _TEX.match(stripped):
            stripped = formula[formula.lastindex or 0]
        if (inside := _inside_brackets(stripped)) != stripped:
            stripped = inside
        elif stripped[-1:] == ")" and not set("([{") & set(stripped):
            stripped = stripped[:-1]  # "A)" of a choice, not "[0, 1)"
        if not stripped or stripped == label:
            break
        label = stripped
    number = label.removesuffix("%").rstrip(" \\")
    percent = "%" if label.endswith("%") else ""
    value = number_value(number if percent else label)
    return label if value is None else f"{value}{percent}"


def equal_by_value(text: str, expected: str) -> bool:
    r"""Return True if two whole texts are the same number, the same JSON, or the same label.

    >>> equal_by_value('```json\n{"a": 1.0, "b": [2]}\n```', '{"b": [2], "a": 1}'), equal_by_value("1,000", "1000.0")
    (True, True)
    """
    try:
        wanted = _json(expected)
    except ValueError:
        return normal_label(text) == normal_label(expected)
    # A JSON number or string is a label like any other: "5" equals "5.0".
    if not isinstance(wanted, Mapping | list):
        return normal_label(text) == normal_label(expected)
    try:
        return bool(_plain(_json(text)) == _plain(wanted))
    except ValueError:
        return False


def _json(text: str) -> Any:
    fence = _FENCE.match(text)
    try:
        return json.loads(fence[1] if fence else text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _plain(value: Any) -> Any:
    """Return a JSON value in which true is not 1, and texts are composed."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, Mapping):
        return {fold(key): _plain(item) for key, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, list) else value


def longer_number(text: str) -> str:
    """Return a text that has a substring although its number is another one; "" for none.

    >>> longer_number("5 USD"), longer_number("costs 5"), longer_number("USD")
    ('15 USD', 'costs 50', '')
    """
    plain = fold(text)
    if re.match(r"[0-9]", plain):
        return f"1{plain}"
    return f"{plain}0" if re.search(r"[0-9]\Z", plain) else ""
