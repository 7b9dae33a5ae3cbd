"""Values that a text states, however they are written: the one rule of conditions that read by value.

A duration, an amount, a measure, a frequency, a share, a count with its noun, or a date is the same value in
digits and in words, in any unit of its kind and in any notation. It is not stated where it is denied ("not 30
minutes"), and neither another unit ("30 hours") nor a longer number ("130 minutes") is the same value.
"""

# ruff: noqa: E501  (patterns, tables and examples)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.folding import Folded
from pytest_evalstudio.text.numbers import Bound, Figure, figures_of
from pytest_evalstudio.text.spelled import in_digits
from pytest_evalstudio.text.units import MEASURES

ValueKind = Literal["number", "frequency", "share", "date"]
_PERIODS = {
    "second": (Fraction(1), "s"), "minute": (Fraction(60), "s"), "hour": (Fraction(3600), "s"),
    "day": (Fraction(86400), "s"), "week": (Fraction(604800), "s"), "month": (Fraction(1), "month"),
    "quarter": (Fraction(3), "month"), "year": (Fraction(12), "month"), "annum": (Fraction(12), "month"),
}  # fmt: skip
_ADVERBS = {
    "hourly": (Fraction(3600), "s"), "daily": (Fraction(86400), "s"), "weekly": (Fraction(604800), "s"),
    "fortnightly": (Fraction(1209600), "s"), "monthly": (Fraction(1), "month"), "quarterly": (Fraction(3), "month"),
    "half-yearly": (Fraction(6), "month"), "semi-annually": (Fraction(6), "month"),
    "semiannually": (Fraction(6), "month"), "biannually": (Fraction(6), "month"),
    "yearly": (Fraction(12), "month"), "annually": (Fraction(12), "month"), "biennially": (Fraction(24), "month"),
}  # fmt: skip
_PERIOD = "|".join(_PERIODS)
_NUMBER = r"[0-9]{1,9}(?:[.,][0-9]{1,6})?"
_FREQUENCY = re.compile(
    rf"\b(?:(?P<times>once|twice|thrice|{_NUMBER}[- ]times?)\s)?"
    r"(?:(?:every|each)\s(?:(?P<other>other|second)\s)?"
    rf"(?:(?P<count>{_NUMBER})[- ])?(?P<unit>{_PERIOD})s?\b"
    rf"|(?P<adverb>{'|'.join(sorted(_ADVERBS, key=len, reverse=True))})\b)",
    re.IGNORECASE,
)
_TIMES = re.compile(
    rf"\b(?:(?P<times>once|twice|thrice|{_NUMBER}[- ]times?)\s(?:per|(?:in\s)?(?:an?|any|each|every))"
    # "200 entries each month" are an amount and a period of their own.
    rf"|(?P<number>{_NUMBER})\s(?P<noun>[a-z]{{3,20}}s)\s(?:per|(?:in\s)?(?:an?|any)))"
    rf"(?:\s(?:single|calendar))?\s(?:(?P<count>{_NUMBER})[- ])?(?P<unit>{_PERIOD})s?\b",
    re.IGNORECASE,
)
_FRACTION_NAMES = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_SHARE = re.compile(
    r"\b(?:(?P<top>an?|one|[0-9]{1,2})[- ])?(?P<name>half|halves|(?:third|quarter|fourth|fifth|sixth|seventh|eighth"
    r"|ninth|tenth)s?)\b(?=\s(?:of|the|what|that|as|its|their|your|more|less|if|when|unless|and|or|but|for|after|before|off|is|are)\b|\s?(?:[.,;:!?)]|\Z))",
    re.IGNORECASE,
)
_RATE = re.compile(
    rf"\s?(?:(?:per|an?|each|every|/)\s?(?P<unit>{_PERIOD})\b|(?P<adverb>hourly|daily|weekly|monthly|yearly|annually)\b)",
    re.IGNORECASE,
)
_NOUN = re.compile(r"[ -]([a-z]{2,20})(?:[ -]([a-z]{2,20}))?(?![a-z])", re.IGNORECASE)
_POUNDS = re.compile(r"[ -]pounds?\b", re.IGNORECASE)
_GRAMS_OF_POUND = MEASURES["lb"].factor
_LEAD = re.compile(
    r"(?:(?:at least|at most|at|up to|no (?:more|less|fewer|later) than|more than|less than|over|under|above|below|about|around|approximately"
    r"|roughly|exactly|only|within|after|before|for|by|on|in|from|until|the)\s)*\Z",
    re.IGNORECASE,
)
_SMALL = r"(?:for|in|within|after|by|on|at least|at most|at|about|the|an?|to|just|exactly|until|from|up to)"
_DENIED = re.compile(
    r"(?:\b(?:not|never|no\slonger|rather\sthan|instead\sof|without)|n't)"
    r"(?:\s(?:be|cost|take|last|have|get|receive|pay|need|weigh|charge|require|amount\sto|come\sto|measure|happen|occur)(?:e?s)?)?"
    rf"(?:\s{_SMALL}){{0,3}}\s\Z|\bno\s(?:[a-z-]{{1,20}}\s){{1,3}}of\s(?:the\s)?\Z",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:(?P<max>within|before|by|no later than|(?<!not )until)|after|since|from|no earlier than)"
    r"(?:\s(?:about|around|approximately|roughly|the|a|another|further)){0,2}\s\Z",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"(?:(?<!no )(?<!not )\b(?:more|less|fewer|longer|shorter|greater|later|earlier) than"
    r"|\b(?:over|under|above|below|exceed(?:s|ing)?)|[<>])\s?\Z",
    re.IGNORECASE,
)
"""Words before a value that is not reached, or exceeded."""
_BETWEEN_RANGE_ENDS = re.compile(r"\s?(?:-|to\s|(?P<and>and\s))\s?[$£€]?", re.IGNORECASE)
_BEFORE_RANGE = re.compile(r"\b(?P<word>between|from|by)\s[$£€]?\Z", re.IGNORECASE)
_SIGNS = "$£€"
_POINTS = re.compile(r"points?\Z", re.IGNORECASE)
_BEFORE_CHARS = 80
_BETWEEN_PARTS = re.compile(r"\s?(?:,|and)?\s?", re.IGNORECASE)
_KINDS = ("number", "date", "code")
_MAX_CHARS = 200
"""Longest text that can be a value alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValue:
    """Value at a place of a text.

    Attributes:
        start: index of its first character.
        end: index after its last character.
        kind: of the value; a frequency is the period after which something happens again.
        readings: value and unit, the most likely first; the unit is "" where none is written.
        noun: of a number without a unit, the words after it in lower case.
        rate: unit of time to which an amount refers, "" for none.
        bound: whether it is the least or greatest value, by words such as "at least", "within" and "after".
        dates: of a date, (year, month, day) in each possible order; the year is 0 where it is not written.
        is_denied: a negation stands directly before it.
        is_strict: a bound that the value itself does not meet, by words such as "less than" and "over".
        is_range_end: it is the beginning or the end of a range, e.g. of "5-7 days".
    """

    start: int
    end: int
    kind: ValueKind
    readings: tuple[tuple[Fraction, str], ...] = ()
    noun: tuple[str, ...] = ()
    rate: str = ""
    bound: Bound = ""
    dates: tuple[tuple[int, int, int], ...] = ()
    is_denied: bool = False
    is_strict: bool = False
    is_range_end: bool = False

    def equals(self, other: StatedValue) -> bool:
        """Return True if a text's value is this one: the same size, kind, unit or noun, and no other rate."""
        if self.bound and other.bound and self.bound != other.bound:
            return False
        if other.is_strict and not self.is_strict:
            return False
        if self.dates or other.dates:
            return any(_same_date(date, stated) for date in self.dates for stated in other.dates)
        if self.kind != other.kind:
            return False
        if self.rate and other.rate and self.rate != other.rate:
            return False
        sizes = {reading for reading in self.readings if reading in other.readings}
        if not any(unit for _, unit in sizes) and self.noun:
            return bool(sizes) and other.noun[: len(self.noun)] == self.noun
        return bool(sizes)


def _same_date(date: tuple[int, int, int], stated: tuple[int, int, int]) -> bool:
    """Return True if two dates are the same day; a year that only the text writes does not count."""
    return date[1:] == stated[1:] and date[0] in (0, stated[0])


@cached_by_text
def stated_values(text: str) -> Sequence[StatedValue]:
    """Return the values of a text in order, those that are denied among them.

    Args:
        text: any text; time is linear in its length.

    >>> [(str(value.readings[0][0]), value.readings[0][1]) for value in stated_values("Half an hour, 5 USD")]
    [('1800', 's'), ('5', 'usd')]
    """
    digits = in_digits(text)
    values = sorted(_scanned(digits.text), key=lambda value: value.start)
    ends = _range_ends(digits.text, values)
    return tuple(_in_original(value, digits, index in ends) for index, value in enumerate(values))


def value_alone(text: str) -> StatedValue | None:
    """Return the value of a text that says nothing else; None for another text, and for a number alone.

    >>> value_alone("at most 30 minutes").kind, value_alone("5 working days").noun, value_alone("twice a year").kind
    ('number', ('working', 'day'), 'frequency')
    >>> value_alone("Paris"), value_alone("12"), value_alone("30 minutes by bus")
    (None, None, None)
    """
    plain = text.strip().rstrip(".")
    values = stated_values(plain) if len(plain) <= _MAX_CHARS else ()
    if len(values) != 1 or values[0].is_denied:
        return None
    [value] = values
    words = [_singular(word) for word in plain[value.end :].replace("-", " ").lower().split()]
    is_alone = not words or (bool(value.noun) and tuple(words) == value.noun)
    has_unit = value.kind != "number" or any(unit for _, unit in value.readings) or bool(value.noun)
    return value if is_alone and has_unit and _LEAD.match(plain[: value.start]) else None


def find_value(text: str, value: StatedValue) -> tuple[int, int] | None:
    """Return the first place where a text states a value and does not deny it; None for none.

    >>> thirty_minutes = value_alone("30 minutes")
    >>> [find_value(text, thirty_minutes) for text in ("Half an hour.", "30 hours", "not 30 minutes")]
    [(0, 12), None, None]
    """
    for stated in stated_values(text):
        if not stated.is_denied and not stated.is_range_end and value.equals(stated):
            return stated.start, stated.end
    return None


def _range_ends(text: str, values: Sequence[StatedValue]) -> set[int]:
    """Return the positions of values that begin or end a range, e.g. "5-7 days" and "between 3 and 5 USD"."""
    ends: set[int] = set()
    for position, (start, end) in enumerate(pairwise(values)):
        gap = _BETWEEN_RANGE_ENDS.fullmatch(text, start.end, end.start)
        if gap is None or start.kind == "date" or not _is_same_measure(text, start, end):
            continue
        before = _BEFORE_RANGE.search(text[max(0, start.start - _BEFORE_CHARS) : start.start])
        word = before["word"].lower() if before else ""
        # "From 5 to 10 USD" and "by 2 USD to 5 USD" may be changes, whose ends are values of their own.
        is_change = word == "from" or (word == "by" and not _is_plain(start))
        if word == "between" if gap["and"] else not is_change:
            ends |= {position, position + 1}
    return ends


def _is_same_measure(text: str, start: StatedValue, end: StatedValue) -> bool:
    """Return True if two values can be the ends of one range."""
    if _is_plain(start):  # the unit of "5-7 days" is written once, behind the range
        return True
    if _is_plain(end):  # and that of "$5-7" before it; "7 % to 112" is no range
        return text[start.start] in _SIGNS
    units = _units(start), _units(end)
    return start.kind == end.kind and (bool(units[0] & units[1]) if any(units) else start.noun == end.noun)


def _is_plain(value: StatedValue) -> bool:
    # The words of a range are read as the noun of the number before them.
    has_noun = bool(value.noun) and value.noun[0] not in ("and", "to")
    return value.kind == "number" and not has_noun and not _units(value)


def _units(value: StatedValue) -> set[str]:
    return {unit for _, unit in value.readings if unit}


def _in_original(value: StatedValue, digits: Folded, is_range_end: bool) -> StatedValue:
    start, end = digits.span(value.start, value.end)
    before = digits.text[max(0, value.start - _BEFORE_CHARS) : value.start]
    return replace(
        value,
        start=start,
        end=end,
        bound=value.bound or _bound_before(before),
        is_denied=bool(_DENIED.search(before)),
        is_strict=bool(_STRICT.search(before)),
        is_range_end=is_range_end,
    )


def _bound_before(text: str) -> Bound:
    """Return the bound that a preposition sets: "within 24 hours" ends where "after 24 hours" begins."""
    match = _PREPOSITION.search(text)
    if match is None:
        return ""
    return "max" if match["max"] else "min"


def _scanned(text: str) -> Iterator[StatedValue]:
    # Each kind is taken out before the next is read: "twice a week" has no "1 week", "half of it" no number.
    rest = text
    for read in (_times_per_period, _periods, _shares):
        values = list(read(rest))
        yield from values
        rest = _blanked(rest, [(value.start, value.end) for value in values])
    yield from _sums(rest, [figure for figure in figures_of(rest) if figure.kind in _KINDS])


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in sorted(spans):
        parts += text[position:start], "\0" * (end - start)
        position = end
    return "".join((*parts, text[position:]))


def _times_per_period(text: str) -> Iterator[StatedValue]:
    for match in _TIMES.finditer(text):
        # "37.5 hours a week" is an amount with its rate.
        noun = (match["noun"] or "").lower()
        if noun not in MEASURES and noun != "pounds":
            period, unit = _PERIODS[match["unit"].lower()]
            yield from _frequency(match, period, unit)


def _periods(text: str) -> Iterator[StatedValue]:
    for match in _FREQUENCY.finditer(text):
        adverb = (match["adverb"] or "").lower()
        period, unit = _ADVERBS[adverb] if adverb else _PERIODS[match["unit"].lower()]
        yield from _frequency(match, period * 2 if match["other"] else period, unit)


def _frequency(match: re.Match[str], period: Fraction, unit: str) -> Iterator[StatedValue]:
    """Yield the period after which something happens again; none for a count of 0."""
    groups = match.groupdict()
    times = _times(groups)
    count = Fraction((groups.get("count") or "1").replace(",", ""))
    if times and count:
        readings = ((period * count / times, unit),)
        yield StatedValue(start=match.start(), end=match.end(), kind="frequency", readings=readings)


def _times(groups: dict[str, str | None]) -> Fraction:
    text = (groups.get("times") or groups.get("number") or "once").lower()
    word = {"once": "1", "twice": "2", "thrice": "3"}.get(text)
    return Fraction(word or re.split(r"[- ]", text)[0].replace(",", ""))


def _shares(text: str) -> Iterator[StatedValue]:
    for match in _SHARE.finditer(text):
        top = match["top"] or "1"
        number = int(top) if top.isdigit() else 1
        name = match["name"].lower()
        share = Fraction(number, _FRACTION_NAMES[name if name in _FRACTION_NAMES else name[:-1]])
        # "A third" is also an ordinal, and so is "the fifth": only a fraction has an article or a number.
        if match["top"] or name == "half":
            yield StatedValue(start=match.start(), end=match.end(), kind="share", readings=((share, ""),))


def _sums(text: str, figures: Sequence[Figure]) -> Iterator[StatedValue]:
    """Yield the values of figures; adjacent ones of one kind, such as hours and minutes, are one value."""
    pending: StatedValue | None = None
    for figure in figures:
        value = _value(text, figure)
        joined = _joined(text, pending, value) if pending else None
        if joined is None and pending is not None:
            yield pending
        pending = joined or value
    if pending is not None:
        yield pending


def _joined(text: str, first: StatedValue, second: StatedValue) -> StatedValue | None:
    """Return the sum of a duration or length and its smaller part, e.g. "1 hour 30 minutes"."""
    if not first.readings or not second.readings or first.rate:
        return None
    (size, unit), (part, other) = first.readings[0], second.readings[0]
    is_part = unit == other and unit in ("s", "month", "m") and second.kind == first.kind and part < size
    if not is_part or not _BETWEEN_PARTS.fullmatch(text[first.end : second.start]):
        return None
    written = [_unit_written(text, value) for value in (first, second)]
    if written[0] == written[1]:  # "2 years and 1 year" are two values
        return None
    return StatedValue(start=first.start, end=second.end, kind="number", readings=((size + part, unit),))


def _unit_written(text: str, value: StatedValue) -> str:
    return re.sub(r"[^a-z]", "", text[value.start : value.end].lower()).rstrip("s")


def _value(text: str, figure: Figure) -> StatedValue:
    # Of "1,200" the first reading counts, thousands: by the other one it would equal "1.2".
    likely: dict[str, Fraction] = {}
    for reading in figure.readings:
        likely.setdefault(reading.unit, reading.value)
    readings = tuple((size, unit) for unit, size in likely.items())
    value = StatedValue(
        start=figure.start, end=figure.end, kind="number", readings=readings, bound=figure.bound
    )
    if figure.kind == "date":
        return replace(value, kind="date", dates=figure.dates)
    if figure.kind == "code":  # "2/3"; a code without a value has no readings
        return replace(value, kind="share")
    if percent := [size for size, unit in readings if unit == "%"]:
        if _POINTS.search(text, figure.start, figure.end):  # a difference of shares is no share
            return replace(value, readings=((percent[0], "points"),))
        return replace(value, kind="share", readings=((percent[0] / 100, ""),))
    if any(unit for _, unit in readings):
        return _with_rate(text, value)
    if pounds := _POUNDS.match(text, figure.end):  # money or a weight
        weights = tuple((size * _GRAMS_OF_POUND, "g") for size, _ in readings)
        money = tuple((size, "gbp") for size, _ in readings)
        return _with_rate(text, replace(value, end=pounds.end(), readings=(*money, *weights)))
    with_rate = _with_rate(text, value)
    return with_rate if with_rate.rate else replace(value, noun=_noun_after(text, figure.end))


def _with_rate(text: str, value: StatedValue) -> StatedValue:
    """Return an amount with the unit of time to which it refers, if the text names one."""
    match = _RATE.match(text, value.end)
    if match is None:
        return value
    rate = (match["unit"] or _adverb_unit(match["adverb"])).lower()
    return replace(value, end=match.end(), rate="year" if rate == "annum" else rate)


def _adverb_unit(adverb: str) -> str:
    return {"daily": "day", "annually": "year"}.get(adverb.lower(), adverb.lower().removesuffix("ly"))


def _noun_after(text: str, end: int) -> tuple[str, ...]:
    match = _NOUN.match(text, end)
    return tuple(_singular(word) for word in match.groups() if word) if match else ()


def _singular(word: str) -> str:
    lowered = word.lower()
    return "working" if lowered == "business" else lowered.removesuffix("s")
