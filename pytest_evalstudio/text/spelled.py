"""Numbers, dates and durations in words, rewritten in digits: the first step of reading values.

"half an hour" is read as "0.5 hours", "a dozen" as "12", "the fourth of May" as "4 May".
"""

# ruff: noqa: E501, SIM905  (patterns, tables and examples)

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.folding import Folded, fold_with_origins

ONES = {
    word: value
    for value, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen".split(),
        start=1,
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        start=2,
    )
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
        " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
} | {"thirtieth": 30}
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)"
)
_ONE = "|".join(sorted(ONES, key=len, reverse=True))
_TEN = "|".join(TENS)
_BELOW_HUNDRED = rf"(?:(?:{_TEN})(?:[- ](?:{_ONE}))?|{_ONE})"
_CARDINAL = re.compile(
    rf"\b(?:(?P<hundreds>a|{_ONE})\shundred(?:\s(?:and\s)?(?P<rest>{_BELOW_HUNDRED}))?|(?P<low>{_BELOW_HUNDRED}))"
    r"(?P<thousand>\sthousand)?\b",
    re.IGNORECASE,
)
_ORDINAL = rf"(?:(?:twenty|thirty)[- ](?:{'|'.join(list(_ORDINALS)[:9])})|{'|'.join(_ORDINALS)})"
_DAY_OF_MONTH = re.compile(
    rf"\b(?:the\s)?(?P<day>{_ORDINAL}|[0-9]{{1,2}}(?:st|nd|rd|th))(?:\sday)?\sof\s(?P<month>{_MONTH})\b",
    re.IGNORECASE,
)
_MONTH_AND_DAY = re.compile(
    rf"\b(?P<month>{_MONTH})\s(?:the\s)?(?P<day>{_ORDINAL}|(?<=the\s)[0-9]{{1,2}}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_TIME = (
    r"(?:second|minute|hour|day|week|fortnight|month|year|decade|century|mile|kilometre|kilometer|mm|pound)"
)
_PARTS = {
    "half": Fraction(1, 2),
    "quarter": Fraction(1, 4),
    "three quarters": Fraction(3, 4),
    "third": Fraction(1, 3),
}
_PART = r"(?:a\s|one[- ])?half|(?:a|one)[- ]quarter|three[- ]quarters|quarter|a\sthird"
_PART_OF_UNIT = re.compile(
    rf"\b(?P<part>{_PART})(?:\s(?:of\s)?an?\s|[- ])(?P<unit>{_TIME})\b(?!s)", re.IGNORECASE
)
_AND_PART = re.compile(
    r"\b(?P<number>[0-9]{1,9})\sand\s(?P<part>an?\shalf|a\squarter|three\squarters)\b(?!\s(?:of|an?|by\sthe)\b)",
    re.IGNORECASE,
)
_UNIT_AND_PART = re.compile(
    rf"\b(?P<number>an?|one|[0-9]{{1,9}})\s(?P<unit>{_TIME})s?\sand\s(?P<part>a\shalf|a\squarter|three\squarters)\b(?!\sby\sthe\b)",
    re.IGNORECASE,
)
_DOZEN = re.compile(r"\b(?P<number>half\sa|an?|[0-9]{1,3})\sdozen\b", re.IGNORECASE)
_IMPLIED_ONE = re.compile(
    rf"(?P<lead>(?:\A|[.;:(!?]\s|\b(?:within|after|for|in|of|than|least|most|about|around|roughly|only|by|to|takes?|lasts?|is"
    rf"|exactly|nearly|every|until|over|under)\s))an?(?=\s(?:{_TIME})\b)",
    re.IGNORECASE,
)
"""A duration without its number: "within a week". In "£5 a week" and "twice a week" the article is a rate."""
_LONG_UNIT = re.compile(
    r"(?:(?P<number>[0-9]{1,6}(?:\.[0-9]{1,6})?)[- ])?\b(?P<unit>fortnight|decade|centur(?:y|ie))(?:s\b|\b(?!ly))",
    re.IGNORECASE,
)
_LONG_UNITS = {"fortnight": (2, "weeks"), "decade": (10, "years"), "centur": (100, "years")}


def cardinal(text: str) -> int:
    """Return the value of a number in words, e.g. "one hundred and fifty"; 0 for another text.

    >>> cardinal("thirty-seven"), cardinal("A hundred and five"), cardinal("ten thousand"), cardinal("many")
    (37, 105, 10000, 0)
    """
    match = _CARDINAL.fullmatch(text)
    return _cardinal(match) if match else 0


def in_words(value: int) -> str:
    """Return a whole number from 1 to 100 in words, "" for another one.

    >>> in_words(7), in_words(30), in_words(37), in_words(100), in_words(0)
    ('seven', 'thirty', 'thirty-seven', 'one hundred', '')
    """
    if value == 100:
        return "one hundred"
    ones = {number: word for word, number in ONES.items()}
    if value in ones:
        return ones[value]
    if not 20 <= value < 100:
        return ""
    tens = {number: word for word, number in TENS.items()}[value // 10 * 10]
    return f"{tens}-{ones[value % 10]}" if value % 10 else tens


@cached_by_text
def in_digits(text: str) -> Folded:
    """Return a text with look-alikes folded, and its numbers, dates and durations in digits.

    Args:
        text: any text; time is linear in its length.

    >>> in_digits("Half an hour, or two and a half days.").text
    '0.5 hours, or 2.5 days.'
    >>> in_digits("By the fourth of May, within a decade: two dozen.").text
    'By 4 May, within 10 years: 24.'
    """
    folded = fold_with_origins(text)
    for pattern, written in _PASSES:
        folded = _substituted(folded, pattern, written)
    return folded


def _substituted(folded: Folded, pattern: re.Pattern[str], written: Callable[[re.Match[str]], str]) -> Folded:
    """Replace the matches of a pattern, and keep the way back to the original."""
    text = folded.text
    origins = folded.origins or range(len(text) + 1)
    parts: list[str] = []
    places: list[int] = []
    position = 0
    for match in pattern.finditer(text):
        other = written(match)
        if other == match[0]:
            continue
        parts += text[position : match.start()], other
        places += origins[position : match.start()]
        # All characters of a replacement come from the beginning of what it replaces.
        places += [origins[match.start()]] * len(other)
        position = match.end()
    if not position:
        return folded
    places += origins[position:]
    return Folded("".join((*parts, text[position:])), places)


def _decimal(value: Fraction) -> str:
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def _part(text: str) -> Fraction:
    words = re.sub(r"^(?:an?|one)[- ]", "", text.lower()).replace("-", " ")
    return _PARTS[words]


def _cardinal(match: re.Match[str]) -> int:
    if match["low"]:
        value = _below_hundred(match["low"])
    else:
        hundreds = match["hundreds"].lower()
        value = 100 * ONES.get(hundreds, 1) + _below_hundred(match["rest"] or "")
    return value * 1000 if match["thousand"] else value


def _below_hundred(text: str) -> int:
    return sum(ONES.get(word, 0) + TENS.get(word, 0) for word in re.split("[- ]", text.lower()))


def _cardinal_in_digits(match: re.Match[str]) -> str:
    # "One" alone is mostly a pronoun; before a unit or an hour it is read by the other rules.
    following = match.string[match.end() : match.end() + 16]
    if match[0].lower() == "one" and not re.match(
        rf"[- ](?:{_TIME})|\s(?:time|working|business|calendar|and an?\s(?:half|quarter))", following
    ):
        return match[0]
    return str(_cardinal(match))


def _day(match: re.Match[str]) -> int:
    text = match["day"].lower()
    if text[0].isdigit():
        return int(text[:-2])
    tens, _, ones = text.replace("-", " ").rpartition(" ")
    return TENS.get(tens, 0) + _ORDINALS[ones]


def _dozens(match: re.Match[str]) -> str:
    number = match["number"].lower()
    if number.startswith("half"):
        return "6"
    return str(12 * (int(number) if number.isdigit() else 1))


def _unit_and_part(match: re.Match[str]) -> str:
    number = match["number"]
    whole = int(number) if number.isdigit() else 1
    return f"{_decimal(whole + _part(match['part']))} {match['unit']}s"


def _long_unit(match: re.Match[str]) -> str:
    factor, unit = next(size for name, size in _LONG_UNITS.items() if match["unit"].lower().startswith(name))
    # Without a number it is one unit, unless it is a rate: "every fortnight".
    return f"{_decimal(Fraction(match['number'] or 1) * factor)} {unit}"


_PASSES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_DAY_OF_MONTH, lambda match: f"{_day(match)} {match['month']}"),
    (_MONTH_AND_DAY, lambda match: f"{match['month']} {_day(match)}"),
    (_PART_OF_UNIT, lambda match: f"{_decimal(_part(match['part']))} {match['unit']}s"),
    (_UNIT_AND_PART, _unit_and_part),
    (_CARDINAL, _cardinal_in_digits),
    (_UNIT_AND_PART, _unit_and_part),
    (_AND_PART, lambda match: _decimal(int(match["number"]) + _part(match["part"]))),
    (_DOZEN, _dozens),
    (_IMPLIED_ONE, lambda match: f"{match['lead']}1"),
    (_LONG_UNIT, _long_unit),
)
"""In this order: "an hour and a half" before numbers, "two and a half" after them."""
