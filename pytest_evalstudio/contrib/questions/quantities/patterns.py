"""Regular expressions that recognise a quantity in other notations."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.quantities.notation import (
    HALF,
    MONTH,
    MONTHS,
    PARTS,
    POINTED,
    TIME,
    UNITS,
    VALUES,
    WORD_OF_VALUE,
    currency_pattern,
)

_MONTH_NUMBERS = {month.lower(): number for number, month in enumerate(MONTHS, 1)}
_SCALE_MARKS = {"million": "mn|m", "billion": "bn", "thousand": "k"}


def pattern(quantity: str) -> str:
    """Return a regular expression for a quantity in any notation: £5.00 or £5, 2,500 or 2500, five or 5.

    >>> bool(re.search(pattern("£2,500.00"), "at least £2500.")), bool(re.search(pattern("£5"), "£5.50"))
    (True, False)
    >>> bool(re.search(pattern("7 days"), "within seven days")), bool(re.search(pattern("10.000 Euro"), "€10,000"))
    (True, True)
    """  # noqa: E501
    if dated := date_pattern(quantity):
        return dated
    parts = PARTS.fullmatch(quantity)
    if parts is None:
        return rf"(?i)(?<!\w){re.escape(quantity)}(?!\w)"
    unit = (parts["symbol"] or parts["unit"]).strip()
    names = currency_pattern(unit)
    number = _number_pattern(parts["number"], pointed=bool(names)) + _scale_pattern(parts["scale"])
    start = r"(?i)(?<![\w.,£$€])"
    if names:
        return rf"{start}(?:(?:{names})\s?{number}(?![\d%])(?!\s?%)(?![.,]\d)|{number}\s?(?:{names})(?!\w))"
    if not unit:
        return rf"{start}{number}(?![\d%])(?!\s?%)(?![.,]\d)"
    return rf"{start}{number}{_unit_pattern(unit)}"


def range_pattern(first: str, last: str) -> str:
    """Return a regular expression for a range; the first number may lack the unit."""
    parts, other = PARTS.fullmatch(first), pattern(last)
    assert parts is not None
    number = _number_pattern(parts["number"], pointed=False)
    # Python allows flags at the start of an expression only.
    return rf"(?is)(?<![\w.,]){number}(?!\d)(?![.,]\d).{{1,30}}?{other.removeprefix('(?i)')}"


def _number_pattern(text: str, *, pointed: bool) -> str:
    lowered = text.lower()
    if half := re.fullmatch(rf"(.+){HALF}", lowered):
        whole = VALUES.get(half[1], half[1])
        word = WORD_OF_VALUE.get(str(whole), str(whole))
        return rf"(?:{whole}[.,]5|{whole}½|(?:{whole}|{word})\sand\sa\shalf)"
    if lowered in VALUES:
        return rf"(?:{VALUES[lowered]}|{lowered})"
    if pointed and re.fullmatch(POINTED, text):
        text = text.replace(".", "").replace(",", ".")
    whole, _, fraction = text.replace(",", "").partition(".")
    grouped = _grouped(whole)
    decimals = "" if not fraction else rf"(?:[.,]{fraction})" + ("?" if not fraction.strip("0") else "")
    if fraction.strip("0") and fraction.endswith("0"):
        decimals = rf"[.,]{fraction.rstrip('0')}0*"
    word = f"|{WORD_OF_VALUE[whole]}" if whole in WORD_OF_VALUE and not fraction.strip("0") else ""
    return f"(?:{grouped}{decimals or '(?:[.]0+)?'}{word})"


def _grouped(whole: str) -> str:
    """Return the pattern of a whole number with or without marks between thousands."""
    head = len(whole) % 3 or 3
    groups = [whole[:head], *(whole[at : at + 3] for at in range(head, len(whole), 3))]
    return r"(?:[,.’'\u00a0\u202f ]?)".join(groups)


def _scale_pattern(scale: str | None) -> str:
    if not scale:
        return r"(?!\s(?:million|billion|thousand))"
    word = scale.strip().lower()
    return rf"\s?(?:{word}|{_SCALE_MARKS[word]})(?!\w)"


def _unit_pattern(unit: str) -> str:
    if re.fullmatch(r"(?i)%|percent|per\scent", unit):
        return r"\s?(?:%|per\s?cent)(?!\w)"
    if measure := UNITS.get(unit.lower()):
        return rf"[\s-]?(?:{re.escape(measure.symbol)}|{measure.notations})(?!\w)"
    words = [
        word.rstrip("s") if re.fullmatch(rf"{TIME}s?", word) else word
        for word in re.split(r"[\s-]+", unit)
        if word
    ]
    return r"[\s-]?" + r"[\s-]".join(map(re.escape, words)) + r"s?(?!\w)"


def date_pattern(text: str) -> str:
    """Return a regular expression for a date in the usual notations; "" if the text is no date."""
    if iso := re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text):
        year, month, day = iso[1], int(iso[2]), int(iso[3])
        return _day_pattern(day, month, year) if 1 <= month <= 12 else ""
    if named := re.fullmatch(rf"(?i)(\d{{1,2}})\s({MONTH})(?:\s(\d{{4}}))?", text):
        return _day_pattern(int(named[1]), _MONTH_NUMBERS[named[2].lower()], named[3] or "")
    if named := re.fullmatch(rf"(?i)({MONTH})\s(\d{{1,2}}),\s(\d{{4}})", text):
        return _day_pattern(int(named[2]), _MONTH_NUMBERS[named[1].lower()], named[3])
    if named := re.fullmatch(rf"(?i)({MONTH})\s(\d{{4}})", text):
        month = _MONTH_NUMBERS[named[1].lower()]
        return rf"(?i)(?<!\w)(?:{_month_pattern(month)}\s(?:of\s)?{named[2]}|0?{month}[/.]{named[2]})(?!\w)"
    return ""


def _month_pattern(month: int) -> str:
    name = MONTHS[month - 1]
    return rf"{name[:3]}(?:{name[3:]}|\.)?" if len(name) > 3 else name


def _day_pattern(day: int, month: int, year: str) -> str:
    after, dash = (rf",?\s{year}", rf"{year}-{month:02}-{day:02}|") if year else ("", "")
    name, nth = _month_pattern(month), r"(?:st|nd|rd|th)?"
    numeric = rf"|0?{day}[./]0?{month}[./]{year}" if year else ""
    return (
        rf"(?i)(?<![\w.])(?:{dash}0?{day}{nth}\s(?:of\s)?{name}{after}|{name}\s(?:the\s)?{day}{nth}{after}{numeric})"
        r"(?!\w)"
    )
