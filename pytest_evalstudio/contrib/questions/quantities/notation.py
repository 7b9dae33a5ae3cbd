"""Notations of quantities: numbers, months, units of measure and currencies."""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.words import pattern_tables

_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}
VALUES = {word: number for number, word in enumerate(_WORDS, 1)} | _TENS
"""Values of number words."""
WORD_OF_VALUE = {str(value): word for word, value in VALUES.items()}
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
POINTED = r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?"
"""A number with points between thousands, as in euro amounts."""
HALF = r"(?:\sand\sa\shalf)"
COUNT = rf"(?:{NUMBER}|{'|'.join(sorted(VALUES, key=len, reverse=True))}){HALF}?"
SCALES = {"million": 1e6, "billion": 1e9, "thousand": 1e3}
SCALE = r"(?:\s(?:million|billion|thousand))"
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
MONTH = rf"(?:{'|'.join(MONTHS)})"
TIME = r"(?:second|minute|hour|day|week|month|quarter|year)"


class Unit(NamedTuple):
    """A unit of measure.

    Attributes:
        dimension: that a question names: "weight".
        notations: pattern of its other notations.
    """

    symbol: str
    dimension: str
    notations: str


UNITS = {row.split()[0].lower(): Unit(*row.split(maxsplit=2)) for row in pattern_tables()["units"]}
"""Units of measure by their symbol in lower case."""
CURRENCIES = {
    "£": r"£|GBP|pounds?(?:\ssterling)?",
    "€": r"€|EUR|euros?",
    "$": r"\$|USD|dollars?",
    "CHF": r"CHF|(?:Swiss\s)?francs?",
    "pence": r"pence|p|pennies",
    "cents": r"cents?|ct",
}
PARTS = re.compile(
    rf"(?i)(?P<symbol>[£$€]|(?:CHF|EUR|GBP|USD)\s)?\s?(?P<number>{POINTED}(?!\d)|{COUNT})(?P<scale>{SCALE})?"
    r"(?P<unit>.*)",
    re.DOTALL,
)
"""The parts of a quantity that is not a date."""


def currency_pattern(unit: str) -> str:
    """Return the pattern of all names of a currency, "" if a unit is no currency."""
    return next((names for names in CURRENCIES.values() if re.fullmatch(f"(?i)(?:{names})", unit)), "")


def plain_value(text: str) -> float | None:
    """Return the value of a number in digits or words; None for one with points between thousands."""
    if text.lower() in VALUES:
        return float(VALUES[text.lower()])
    if re.fullmatch(POINTED, text) or not re.fullmatch(NUMBER, text):
        return None
    return float(text.replace(",", ""))
