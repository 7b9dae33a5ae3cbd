"""Values of quantities, and quantities with another value."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.quantities.notation import (
    PARTS,
    SCALES,
    TIME,
    WORD_OF_VALUE,
    currency_pattern,
    plain_value,
)
from pytest_evalstudio.contrib.questions.quantities.occurrences import occurs
from pytest_evalstudio.contrib.questions.quantities.patterns import date_pattern
from pytest_evalstudio.contrib.questions.quantities.recognition import Quantity, other_quantities, unit_of
from pytest_evalstudio.core.plugins.generator import Corpus


def value_of(quantity: str) -> float | None:
    """Return the number of a quantity in its unit; None if it is not plain.

    >>> value_of("£2.5 million"), value_of("five days"), value_of("1 March 2026")
    (2500000.0, 5.0, None)
    """
    parts = PARTS.fullmatch(quantity)
    if parts is None or date_pattern(quantity):
        return None
    value = plain_value(parts["number"])
    return value * SCALES[parts["scale"].strip().lower()] if value is not None and parts["scale"] else value


def changed(quantity: str, factor: float) -> str:
    """Return a quantity with another number in the same notation; "" for a date or an unclear number.

    >>> changed("five working days", 2), changed("£1,200", 0.5), changed("2.5%", 2), changed("1 March", 2)
    ('ten working days', '£600', '5%', '')
    """
    parts = PARTS.fullmatch(quantity)
    if parts is None or date_pattern(quantity):
        return ""
    text = parts["number"]
    value = plain_value(text)
    # A multiple of zero is zero.
    if not value:
        return ""
    decimals = len(text.partition(".")[2]) if text[0].isdigit() else 0
    other = round(value * factor, decimals)
    # Rounding may give the number itself: one and a quarter times one is one.
    if other == value:
        other = value + 1 if factor > 1 else value - 1
    if other <= 0:
        return ""
    if not text[0].isdigit():
        number = WORD_OF_VALUE.get(f"{other:.0f}", f"{other:.0f}")
    else:
        number = f"{other:,.{decimals}f}" if value >= 1000 or "," in text else f"{other:.{decimals}f}"
        is_sum_of_money = currency_pattern(unit_of(quantity)) != ""  # £2.50, but 2.5 %
        if decimals and (not is_sum_of_money or other == int(other)):
            number = re.sub(r"(\.\d*?)0+$", r"\1", number).rstrip(".")
    start, end = parts.span("number")
    return _agreeing(quantity[:start] + number + quantity[end:], is_one=other == 1)


_WHOLE = 100.0
"""Percent."""
_FACTORS = (1.5, 0.5, 2.0, 1.25, 0.75)


def near_misses(quantity: Quantity, corpus: Corpus) -> list[str]:
    """Return plausible false values of a quantity: near it, and in no document, so that no answer has them.

    Dates are those of the documents in the same notation, since there is no arithmetic for all of them.
    """
    is_year = re.fullmatch(r"\d{4}", quantity.text) is not None
    if quantity.kind == "date" and not is_year:
        return [date for date in other_quantities(quantity, corpus) if _shape(date) == _shape(quantity.text)]
    values = (
        [str(int(quantity.text) + years) for years in (-2, 1, -1, -3)]
        if is_year
        else [changed(quantity.text, factor) for factor in _FACTORS]
    )
    is_share = quantity.kind == "percent"
    return [
        text
        for text in dict.fromkeys(filter(None, values))
        if not (is_share and (value_of(text) or 0.0) > _WHOLE) and not occurs(text, corpus)
    ]


def _shape(date: str) -> str:
    """Return the notation of a date.

    >>> _shape("5 March 2026"), _shape("June 2024")
    ('0 a 0', 'a 0')
    """
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", date))


def _agreeing(quantity: str, *, is_one: bool) -> str:
    """Return a period or amount with its noun in the right number."""
    nouns = rf"{TIME}|pound|euro|dollar"
    if is_one:
        return re.sub(rf"({nouns})s$", r"\1", quantity)
    return quantity if "-" in quantity else re.sub(rf"({nouns})$", r"\1s", quantity)
