"""Amounts, shares, periods, dates, measures and numbers in English sentences, and equivalent notations."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.core.plugins.generator import Corpus

Kind = Literal["money", "percent", "date", "period", "measure", "number"]

_MOST_OTHERS = 50
_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_VALUES = {word: number for number, word in enumerate(_WORDS, 1)} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "hundred": 100,
}
_BY_VALUE = {str(value): word for word, value in _VALUES.items()}
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_POINTED = r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?"
"""A number with points between thousands, as in euro amounts."""
_HALF = r"(?:\sand\sa\shalf)"
_COUNT = rf"(?:{_NUMBER}|{'|'.join(sorted(_VALUES, key=len, reverse=True))}){_HALF}?"
_SCALE = r"(?:\s(?:million|billion|thousand))"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
_TIME = r"(?:second|minute|hour|day|week|month|quarter|year)"
_PACE = r"(?:working|business|calendar|consecutive)"
UNITS = {
    "kg": ("kilograms?|kilogrammes?|kilos?", "weight"),
    "mg": ("milligrams?|milligrammes?", "amount"),
    "g": ("grams?|grammes?", "weight"),
    "km/h": ("kmh|kph|kilomet(?:re|er)s?\\s(?:per|an)\\shour", "speed"),
    "mph": ("miles\\s(?:per|an)\\shour", "speed"),
    "km": ("kilomet(?:re|er)s?", "distance"),
    "mm": ("millimet(?:re|er)s?", "distance"),
    "cm": ("centimet(?:re|er)s?", "distance"),
    "m": ("met(?:re|er)s?", "distance"),
    "miles": ("miles?", "distance"),
    "mile": ("miles?", "distance"),
    "metres": ("m|met(?:re|er)s?", "distance"),
    "litres": ("l|lit(?:re|er)s?", "volume"),
    "litre": ("l|lit(?:re|er)s?", "volume"),
    "ml": ("millilit(?:re|er)s?", "volume"),
    "GWh": ("gigawatt[\\s-]?hours?", "amount"),
    "MWh": ("megawatt[\\s-]?hours?", "amount"),
    "kWh": ("kilowatt[\\s-]?hours?", "amount"),
    "Wh": ("watt[\\s-]?hours?", "capacity"),
    "kW": ("kilowatts?", "power"),
    "W": ("watts?", "power"),
    "V": ("volts?", "voltage"),
    "A": ("amps?|amperes?", "current"),
    "°C": ("degrees?(?:\\s(?:C|Celsius|centigrade))?|℃", "temperature"),
    "°F": ("degrees?\\s(?:F|Fahrenheit)", "temperature"),
    "dB": ("decibels?", "level"),
    "bar": ("bars?", "pressure"),
    "MPa": ("megapascals?", "pressure"),
    "Nm": ("newton[\\s-]?met(?:re|er)s?", "torque"),
    "GB": ("gigabytes?", "size"),
    "MB": ("megabytes?", "size"),
}
"""Units of measure with their other notations and the dimension that a question names."""
_CURRENCIES = {
    "£": r"£|GBP|pounds?(?:\ssterling)?",
    "€": r"€|EUR|euros?",
    "$": r"\$|USD|dollars?",
    "CHF": r"CHF|(?:Swiss\s)?francs?",
    "pence": r"pence|p|pennies",
    "cents": r"cents?|ct",
}
_CURRENCY_NAMES = r"euros?|pounds?|dollars?|EUR|GBP|USD|CHF|pence|cents"
_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "money",
        rf"(?:[£$€]|CHF\s|EUR\s|GBP\s|USD\s)\s?(?:{_POINTED}(?!\d)|{_NUMBER}){_SCALE}?"
        rf"|(?:{_POINTED}|{_NUMBER}){_SCALE}?\s(?:€|(?:{_CURRENCY_NAMES})\b)",
    ),
    ("percent", rf"{_NUMBER}\s?(?:%|percent|per\scent)"),
    (
        "date",
        rf"\d{{1,2}}\s{_MONTH}(?:\s\d{{4}})?|{_MONTH}\s\d{{1,2}},\s\d{{4}}|{_MONTH}\s\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}}"
        r"|(?<=\bin\s)(?:19|20)\d\d(?!\s[a-z]{4})|(?<=\bsince\s)(?:19|20)\d\d|(?<=\bby\s)(?:19|20)\d\d(?!\s[a-z])"
        r"|(?<=\buntil\s)(?:19|20)\d\d",
    ),
    ("period", rf"{_COUNT}[\s-](?:{_PACE}[\s-])?{_TIME}s?"),
    ("measure", rf"{_COUNT}{_SCALE}?\s?(?:{'|'.join(UNITS)})(?![\w/])"),
    ("number", rf"{_NUMBER}{_SCALE}?"),
)
_ANY = re.compile("|".join(rf"(?P<{kind}>(?:{pattern}))" for kind, pattern in _KINDS), re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NOUN = re.compile(
    r"\s(?!(?:and|or|but|to|for|in|on|at|by|with|than|from|until|as|when|if|is|are|was|were|has|had|after|before)\b)[a-z]"
)
"""Word after a number that it may count."""
_PARTS = re.compile(
    rf"(?i)(?P<symbol>[£$€]|(?:CHF|EUR|GBP|USD)\s)?\s?(?P<number>{_POINTED}(?!\d)|{_COUNT})(?P<scale>{_SCALE})?"
    r"(?P<unit>.*)",
    re.DOTALL,
)


_IDENTIFIED = re.compile(
    r"(?i)(?:\b(?:annex|appendix|article|box|call|channel|chapter|clause|code|dial|extension|floor|form|gate|level"
    r"|line|no\.|number|numbers|page|paragraph|platform|regulation|room|route|rule|section|table|version|zone)"
    r"|\b(?:code|extension|line|number(?!s?\sof\b))\b[^.,;]{0,60}?\s(?:is|was|at|on))\s$"
)
"""Words before a number that names something and counts nothing."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity with its position in the sentence."""

    kind: Kind
    text: str
    start: int
    end: int


def quantities(sentence: str) -> list[Quantity]:
    """Return the quantities of a sentence, in order, without numbers that are part of a word.

    >>> [(found.kind, found.text) for found in quantities("It costs £2.50 within five working days from 1 March 2026.")]
    [('money', '£2.50'), ('period', 'five working days'), ('date', '1 March 2026')]
    """  # noqa: E501
    hits = []
    for match in _ANY.finditer(sentence):
        before, after = (
            sentence[max(0, match.start() - 2) : match.start()],
            sentence[match.end() : match.end() + 2],
        )
        if re.search(r"[\w.,/£$€-]$", before) or re.match(r"[\w/]|[.,-]\w", after):
            continue
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        if kind == "number" and _YEAR.fullmatch(match.group()) and not _NOUN.match(sentence, match.end()):
            kind = "date"
        hits.append(Quantity(kind, match.group(), match.start(), match.end()))
    return hits


def is_identifier(quantity: Quantity, before: str, after: str) -> bool:
    """Report whether a number names something: a telephone number, a form, a section, a house.

    Args:
        before: words before the quantity.
        after: words after it.

    >>> is_identifier(quantities("Ask for form 12.")[0], "Ask for form ", ".")
    True
    """
    if quantity.kind != "number":
        return False
    is_code = len(quantity.text) > 1 and quantity.text.startswith("0") and quantity.text.isdigit()
    is_address = re.match(r"\s[A-Z][a-z]+\s[A-Z][a-z]+", after) is not None
    return is_code or is_address or bool(_IDENTIFIED.search(before))


def pattern(quantity: str) -> str:
    """Return a regular expression for a quantity in any notation: £5.00 or £5, 2,500 or 2500, five or 5.

    >>> bool(re.search(pattern("£2,500.00"), "at least £2500.")), bool(re.search(pattern("£5"), "£5.50"))
    (True, False)
    >>> bool(re.search(pattern("7 days"), "within seven days")), bool(re.search(pattern("10.000 Euro"), "€10,000"))
    (True, True)
    """  # noqa: E501
    if dated := _date_pattern(quantity):
        return dated
    parts = _PARTS.fullmatch(quantity)
    if parts is None:
        return rf"(?i)(?<!\w){re.escape(quantity)}(?!\w)"
    unit = (parts["symbol"] or parts["unit"]).strip()
    number = _number_pattern(parts["number"], pointed=bool(_currency(unit))) + _scale_pattern(parts["scale"])
    start = r"(?i)(?<![\w.,£$€])"
    if names := _currency(unit):
        return rf"{start}(?:(?:{names})\s?{number}(?![\d%])(?!\s?%)(?![.,]\d)|{number}\s?(?:{names})(?!\w))"
    if not unit:
        return rf"{start}{number}(?![\d%])(?!\s?%)(?![.,]\d)"
    return rf"{start}{number}{_unit_pattern(unit)}"


def range_pattern(first: str, last: str) -> str:
    """Return a regular expression for a range; the first number may lack the unit."""
    parts, other = _PARTS.fullmatch(first), pattern(last)
    assert parts is not None
    number = _number_pattern(parts["number"], pointed=False)
    return rf"(?is)(?<![\w.,]){number}(?!\d)(?![.,]\d).{{1,30}}?{other.removeprefix('(?i)')}"


def unit_of(quantity: str) -> str:
    """Return the unit of a quantity in the singular, "" for a mere number.

    >>> unit_of("five working days"), unit_of("£2.50"), unit_of("12 kg")
    ('working day', '£', 'kg')
    """
    parts = _PARTS.fullmatch(quantity)
    unit = (parts["symbol"] or parts["unit"]).strip().strip("-") if parts is not None else ""
    return unit.removesuffix("s") if re.search(rf"{_TIME}s$", unit) else unit


_SCALES = {"million": 1e6, "billion": 1e9, "thousand": 1e3}


def value_of(quantity: str) -> float | None:
    """Return the number of a quantity in its unit; None if it is not plain.

    >>> value_of("£2.5 million"), value_of("five days"), value_of("1 March 2026")
    (2500000.0, 5.0, None)
    """
    parts = _PARTS.fullmatch(quantity)
    if parts is None or _date_pattern(quantity):
        return None
    text = parts["number"].lower()
    value = float(_VALUES[text]) if text in _VALUES else _plain_value(text)
    return value * _SCALES[parts["scale"].strip().lower()] if value is not None and parts["scale"] else value


def changed(quantity: str, factor: float) -> str:
    """Return a quantity with another number in the same notation; "" for a date or an unclear number.

    >>> changed("five working days", 2), changed("£1,200", 0.5), changed("2.5%", 2), changed("1 March", 2)
    ('ten working days', '£600', '5%', '')
    """
    parts = _PARTS.fullmatch(quantity)
    if _date_pattern(quantity) or parts is None:
        return ""
    text = parts["number"]
    value = float(_VALUES[text.lower()]) if text.lower() in _VALUES else _plain_value(text)
    if value is None or value <= 0:
        return ""
    decimals = len(text.partition(".")[2]) if text[0].isdigit() else 0
    other = round(value * factor, decimals)
    if other == value:
        other = value + 1 if factor > 1 else value - 1
    if other <= 0:
        return ""
    if not text[0].isdigit():
        written = _BY_VALUE.get(f"{other:.0f}", f"{other:.0f}")
    else:
        written = f"{other:,.{decimals}f}" if value >= 1000 or "," in text else f"{other:.{decimals}f}"
        if decimals and (not _currency(unit_of(quantity)) or other == int(other)):
            written = re.sub(r"(\.\d*?)0+$", r"\1", written).rstrip(".")
    span = parts.span("number")
    result = quantity[: span[0]] + written + quantity[span[1] :]
    return _agreeing(result, is_one=other == 1)


def others(quantity: Quantity, corpus: Corpus) -> list[str]:
    """Return the first different quantities of the same kind in the documents, each once."""
    same = re.compile(pattern(quantity.text))
    alike = _stated(corpus).get((quantity.kind, _symbol(quantity.text)), {})
    return list(
        itertools.islice((other for other in alike.values() if not same.fullmatch(other)), _MOST_OTHERS)
    )


@functools.lru_cache(maxsize=1)
def _stated(corpus: Corpus) -> dict[tuple[Kind, str], dict[str, str]]:
    """Return all quantities that documents state, in order, by kind and currency."""
    by_kind: dict[tuple[Kind, str], dict[str, str]] = {}
    for sentence in corpus.sentences:
        for stated in quantities(sentence):
            by_kind.setdefault((stated.kind, _symbol(stated.text)), {}).setdefault(
                stated.text.casefold(), stated.text
            )
    return by_kind


def _symbol(text: str) -> str:
    return text[0] if text[0] in "£$€" else ""


def _plain_value(text: str) -> float | None:
    if re.fullmatch(_POINTED, text) or not re.fullmatch(_NUMBER, text):
        return None
    return float(text.replace(",", ""))


def _agreeing(quantity: str, *, is_one: bool) -> str:
    """Return a period with its noun in the right number."""
    if is_one:
        return re.sub(rf"({_TIME})s$", r"\1", quantity)
    return re.sub(rf"(?<!-)({_TIME})$", r"\1s", quantity) if "-" not in quantity else quantity


def _number_pattern(text: str, *, pointed: bool) -> str:
    lowered = text.lower()
    if half := re.fullmatch(rf"(.+){_HALF}", lowered):
        whole = _VALUES.get(half[1], half[1])
        word = _BY_VALUE.get(str(whole), str(whole))
        return rf"(?:{whole}[.,]5|{whole}½|(?:{whole}|{word})\sand\sa\shalf)"
    if lowered in _VALUES:
        return rf"(?:{_VALUES[lowered]}|{lowered})"
    if pointed and re.fullmatch(_POINTED, text):
        text = text.replace(".", "").replace(",", ".")
    whole, _, fraction = text.replace(",", "").partition(".")
    grouped = _grouped(whole)
    decimals = "" if not fraction else rf"(?:[.,]{fraction})" + ("?" if not fraction.strip("0") else "")
    if fraction.strip("0") and fraction.endswith("0"):
        decimals = rf"[.,]{fraction.rstrip('0')}0*"
    word = f"|{_BY_VALUE[whole]}" if whole in _BY_VALUE and not fraction.strip("0") else ""
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
    return rf"\s?(?:{word}|{ {'million': 'mn|m', 'billion': 'bn', 'thousand': 'k'}[word] })(?!\w)"


def _currency(unit: str) -> str:
    return next((names for names in _CURRENCIES.values() if re.fullmatch(f"(?i)(?:{names})", unit)), "")


def _unit_pattern(unit: str) -> str:
    if re.fullmatch(r"(?i)%|percent|per\scent", unit):
        return r"\s?(?:%|per\s?cent)(?!\w)"
    for known, (names, _) in UNITS.items():
        if known.lower() == unit.lower():
            return rf"[\s-]?(?:{re.escape(known)}|{names})(?!\w)"
    words = [
        word.rstrip("s") if re.fullmatch(rf"{_TIME}s?", word) else word
        for word in re.split(r"[\s-]+", unit)
        if word
    ]
    return r"[\s-]?" + r"[\s-]".join(map(re.escape, words)) + r"s?(?!\w)"


def _date_pattern(text: str) -> str:
    """Return a regular expression for a date in the usual notations; "" if the text is no date."""
    months = {month.lower(): number for number, month in enumerate(_MONTHS, 1)}
    if iso := re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text):
        year, month, day = iso[1], int(iso[2]), int(iso[3])
        return _day_pattern(day, month, year) if 1 <= month <= 12 else ""
    if named := re.fullmatch(rf"(?i)(\d{{1,2}})\s({_MONTH})(?:\s(\d{{4}}))?", text):
        return _day_pattern(int(named[1]), months[named[2].lower()], named[3] or "")
    if named := re.fullmatch(rf"(?i)({_MONTH})\s(\d{{1,2}}),\s(\d{{4}})", text):
        return _day_pattern(int(named[2]), months[named[1].lower()], named[3])
    if named := re.fullmatch(rf"(?i)({_MONTH})\s(\d{{4}})", text):
        month = months[named[1].lower()]
        return rf"(?i)(?<!\w)(?:{_month_pattern(month)}\s(?:of\s)?{named[2]}|0?{month}[/.]{named[2]})(?!\w)"
    return ""


def _month_pattern(month: int) -> str:
    name = _MONTHS[month - 1]
    return rf"{name[:3]}(?:{name[3:]}|\.)?" if len(name) > 3 else name


def _day_pattern(day: int, month: int, year: str) -> str:
    after, dash = (rf",?\s{year}", rf"{year}-{month:02}-{day:02}|") if year else ("", "")
    name, nth = _month_pattern(month), r"(?:st|nd|rd|th)?"
    numeric = rf"|0?{day}[./]0?{month}[./]{year}" if year else ""
    return (
        rf"(?i)(?<![\w.])(?:{dash}0?{day}{nth}\s(?:of\s)?{name}{after}|{name}\s(?:the\s)?{day}{nth}{after}{numeric})"
        r"(?!\w)"
    )
