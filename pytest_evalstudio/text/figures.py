"""Numbers and counts in words, the same in every output."""

from __future__ import annotations

import math

_SMALLEST = 1e-7
"""Smaller numbers are written with an exponent."""


def counted(count: int, noun: str, several: str = "") -> str:
    """Return a count with its noun.

    Args:
        several: plural of the noun; without it the noun gets an s.

    >>> counted(1, "sentence"), counted(1200, "case"), counted(2, "answer is", "answers are")
    ('1 sentence', '1,200 cases', '2 answers are')
    """
    return f"{count:,} {plural(count, noun, several)}"


def plural(count: int, noun: str, several: str = "") -> str:
    """Return a noun without its count.

    >>> plural(1, "metric"), plural(0, "metric")
    ('metric', 'metrics')
    """
    return noun if count == 1 else several or f"{noun}s"


def figure(value: float | None, *, sign: bool = False) -> str:
    """Return a number with four significant digits and separators of thousands.

    Args:
        value: None for what was not measured.
        sign: whether positive numbers have a plus.

    >>> figure(0.123456), figure(3.0), figure(12345.678), figure(0.00004), figure(None)
    ('0.1235', '3', '12,346', '0.00004', '–')
    >>> figure(0.25, sign=True), figure(float("inf")), figure(-0.0)
    ('+0.25', 'infinite', '0')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    mark = "+" if sign else ""
    if abs(value) >= 1000:
        return f"{value:{mark},.0f}"
    if _SMALLEST <= abs(value) < 1e-4:
        return f"{value:{mark}.{3 - math.floor(math.log10(abs(value)))}f}".rstrip("0")
    # `or`, since -0.0 would be written with its sign.
    return f"{value or 0.0:{mark}.4g}"


def unequal(value: float | None, limit: float) -> tuple[str, str]:
    """Return two numbers that differ with as many digits as show the difference, four at least.

    >>> unequal(0.5, 0.75), unequal(0.74999, 0.75), unequal(None, 0.75)
    (('0.5', '0.75'), ('0.74999', '0.75'), ('–', '0.75'))
    >>> unequal(0.1 + 0.2, 0.3)
    ('0.30000000000000004', '0.3')
    """
    texts = figure(value), figure(limit)
    if value is None or value == limit or texts[0] != texts[1]:
        return texts
    for digits in range(5, 17):
        texts = f"{value:.{digits}g}", f"{limit:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return repr(value), repr(limit)


def interval(low: float, high: float, *, sign: bool = False) -> str:
    """Return an interval.

    >>> interval(0.25, 1.0), interval(-0.5, 0.25, sign=True)
    ('[0.25, 1]', '[-0.5, +0.25]')
    """
    return f"[{figure(low, sign=sign)}, {figure(high, sign=sign)}]"


def percent(share: float | None) -> str:
    """Return a share as a percentage with at most one decimal.

    >>> percent(0.125), percent(1.0), percent(None), percent(0.0004), percent(0.9996)
    ('12.5 %', '100 %', '–', '< 0.1 %', '> 99.9 %')
    """
    if share is None or math.isnan(share):
        return "–"
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
