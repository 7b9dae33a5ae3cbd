"""Numbers of a text: sign, thousands, decimals, scale, unit, bounds; dates and expressions.

One reader for evaluators of support, conditions, labels and matchers.
"""

# ruff: noqa: E501  (patterns, tables and examples)

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.folding import fold_with_origins
from pytest_evalstudio.text.units import MEASURES, PREFIXES, same_unit

Bound = Literal["", "min", "max"]
Habit = Literal["", "point", "comma"]
"""Decimal sign of a text; "" where it does not show."""

MAX_DIGITS = 40
"""Longer rows of digits are identifiers: they are equal as texts only."""

_UNIT_WORDS = sorted(MEASURES, key=len, reverse=True)
_SCALES = {
    "thousand": 3, "k": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "m": 6, "billion": 9, "billions": 9,
    "bn": 9, "b": 9, "trillion": 12, "tn": 12, "万": 4, "亿": 8, "lakh": 5, "crore": 7, "hundred": 2,
}  # fmt: skip
_UNIT = "|".join(re.escape(word) for word in _UNIT_WORDS)
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_SPELLED = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_FRACTIONS = {
    "½": Fraction(1, 2),
    "¼": Fraction(1, 4),
    "¾": Fraction(3, 4),
    "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
}
_SPELLED_WORDS = "|".join(sorted(_SPELLED, key=len, reverse=True))
_SPELLED_START = rf"\b(?=[{''.join(sorted({word[0] for word in _SPELLED}))}])"
"""Before a spelled number: without it, each word of a text is compared with all of them."""
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.)\]%-])(?:-|minus |negative ))?"
    rf"(?P<prefix>(?<![A-Za-z$])(?:{'|'.join(map(re.escape, PREFIXES))})[ ]?)?"
    r"(?P<inner>(?<=[$€£¥₹])-)?"
    r"(?:(?<![A-Za-z0-9_])(?<![A-Za-z]-)(?<![0-9][.,'])(?P<digits>[0-9]{1,3}(?:[ ][0-9]{3}){1,6}(?![0-9])|[0-9]+(?:[.,'][0-9]+){0,12}|(?<![0-9])[.,][0-9]+)"
    r"(?P<half>[½¼¾⅓⅔])?|(?P<fraction>[½¼¾⅓⅔])"
    rf"|\b(?P<spelled>(?:{_SPELLED_WORDS})(?:[- ](?:{_SPELLED_WORDS}))?)\b(?=[ -](?:{_SCALE}|{_UNIT})\b))"
    rf"(?:[ ]?-?(?P<scale>{_SCALE})(?![A-Za-z0-9_]|/))?"
    rf"(?:(?:[ ]?-?|\n(?=[A-Za-z]{{2}}))(?P<unit>{_UNIT})(?![A-Za-z0-9_]|/[a-z]))?"
    r"(?P<ordinal>st|nd|rd|th)?(?![A-Za-z_])",
    re.IGNORECASE,
)
_CASED = {"m", "g", "l", "s", "h", "k", "b", "w", "t", "v", "a"}
"""Letters that are units or scales in one case only: "5 m" are metres, "5 M" is no length."""
_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    r"(?<![\w./-])(?:(?P<iso>[0-9]{4})(?P<mark>[-/.])(?P<isom>[0-9]{1,2})(?P=mark)(?P<isod>[0-9]{1,2})"
    r"|(?P<first>[0-9]{1,2})(?P<sep>[-/.])(?P<second>[0-9]{1,2})(?P=sep)(?P<year>[0-9]{4}|[0-9]{2})"
    r"|(?P<cjky>[0-9]{4})年(?P<cjkm>[0-9]{1,2})月(?P<cjkd>[0-9]{1,2})日"
    rf"|(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?[ -](?P<month>{_MONTH})\b\.?(?:,?[ -](?P<dmy>[0-9]{{4}}))?"
    rf"|(?P<name>{_MONTH})\.? (?P<named>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9])(?:,? (?P<mdy>[0-9]{{4}}))?"
    r")(?![\w/]|[.-][0-9])",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\w:.])([0-9]{1,2})[:.]([0-9]{2})(?::[0-9]{2})?(?:[ ]?([ap])\.?m\b\.?|(?<=:[0-9]{2})(?![\w:]))",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\w.])v?[0-9]+(?:\.[0-9]+){2,}(?![\w])|(?<![\w/])[0-9]+(?:/[0-9]+)+(?![\w])")
_OPERAND = r"(?:[A-Za-z]|[0-9]+(?:\.[0-9]+)?|\))"
_EXPRESSION = re.compile(
    rf"(?<![\w.])({_OPERAND}) ?(?:(?<= )([-+*/×÷^=<>≤≥]|<=|>=)(?= )|(?<! )([+*×÷^=<>≤≥]|<=|>=)(?! )) ?"
    r"(?=([A-Za-z]|[0-9]+(?:\.[0-9]+)?|\()(?![\w]))"
)
CITATION = re.compile(r"\[\^?[0-9]{1,3}(?:\s?[,;-]\s?[0-9]{1,3})*\]|【[^】\n]{0,80}】")
_GROUPED = re.compile(r"[0-9]{1,3}([.,'])[0-9]{3}(?:\1[0-9]{3})*\Z")
_POINT = re.compile(
    r"(?<![0-9.,])[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,})(?![0-9]|[.,][0-9])|[0-9],[0-9]{3}\.[0-9]|,[0-9]{3},[0-9]{3}"
)
_COMMA = re.compile(
    r"(?<![0-9.,])[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})(?![0-9]|[.,][0-9])|[0-9]\.[0-9]{3},[0-9]|\.[0-9]{3}\.[0-9]{3}"
)
_BEFORE_CHARS = 24
_MIN = re.compile(
    r"(?:at least|minimum(?: of)?|no(?:t)? (?:less|fewer) than|(?<!no )(?<!not )more than|over|above|exceed(?:s|ing)?|>=?|≥)\s?\Z",
    re.IGNORECASE,
)
_MAX = re.compile(
    r"(?:at most|up to|maximum(?: of)?|no(?:t)? more than|less than|fewer than|under|below|<=?|≤)\s?\Z",
    re.IGNORECASE,
)
_BOUND_ENDS = frozenset("st um of an er ve ed ng ds to ow > < = ≥ ≤".split()) | {">=", "<="}  # noqa: SIM905
"""Last letters of the words that `_MIN` and `_MAX` look for."""
_ELLIPSIS = re.compile(r"\b(?:above|below)\b(?! [$€£]?[0-9])", re.IGNORECASE)
"""A bound without its number: "6 % above 100 USD, 8 % below"."""
_LOSS = re.compile(
    r"\b(?:loss|lost|losses|fell|fall|drop|dropped|decline|declined|decrease|decreased|down|negative|minus|below|deficit"
    r"|lower|reduced|reduction|shrank|cut)\b",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """One way to read a number.

    Attributes:
        value: exact, in the unit.
        unit: name of the unit or currency, "" where none is written.
    """

    value: Fraction
    unit: str = ""


class Figure(NamedTuple):
    """Number, date, time, expression or code of a text.

    Attributes:
        start: index of its first character.
        end: index after its last character.
        kind: what it is.
        readings: of a number, the most likely first.
        values: in the unit in which it is written; of a date, its year and day.
        bound: whether it is written as a least or greatest value.
        dates: of a date, (year, month, day) in each possible order; the year is 0 where it is not written.
        text: normal form of other kinds and of an ambiguous date.
        is_loss: of a positive number, whether a word before it says a decrease.
    """

    start: int
    end: int
    kind: Literal["number", "date", "time", "expression", "code"]
    readings: tuple[Reading, ...] = ()
    values: tuple[Fraction, ...] = ()
    bound: Bound = ""
    dates: tuple[tuple[int, int, int], ...] = ()
    text: str = ""
    is_loss: bool = False


def decimal_habit(text: str) -> Habit:
    """Return the decimal sign that a text uses, "" where its numbers do not show it.

    >>> decimal_habit("1,5 % of 1.200 euros"), decimal_habit("1.5 % of 1,200 euros"), decimal_habit("1.200")
    ('comma', 'point', '')
    """
    has_point, has_comma = bool(_POINT.search(text)), bool(_COMMA.search(text))
    if has_point == has_comma:
        return ""
    return "point" if has_point else "comma"


@cached_by_text
def figures_of(text: str) -> Sequence[Figure]:
    """Return the numbers, dates, times, expressions and codes of a text, in order.

    Citations such as [1] are no numbers.

    Args:
        text: any text; time is linear in its length.

    >>> [str(figure.readings[0].value) + figure.readings[0].unit for figure in figures_of("-5 million USD; 1 200 kg")]
    ['-5000000usd', '1200000g']
    """
    if not _MAY_HAVE.search(text):
        return ()
    folded = fold_with_origins(text, join_numbers=False)
    # Blanks of the same length, so that positions stay those of the folded text.
    plain = CITATION.sub(lambda match: " " * len(match[0]), folded.text)
    figures = sorted(_scanned(plain))
    if not folded.origins:
        return tuple(figures)
    return tuple(
        figure._replace(start=start, end=end)
        for figure in figures
        for start, end in [folded.span(figure.start, figure.end)]
    )


_MAY_HAVE = re.compile(
    rf"\d|[½¼¾⅓⅔]|{_SPELLED_START}(?:{_SPELLED_WORDS})\b|[A-Za-z] ?[-+*/×÷^=<>≤≥] ?[A-Za-z(](?![A-Za-z])",
    re.IGNORECASE,
)


_DIGITS = re.compile(r"[0-9]+|[½¼¾⅓⅔]")
_SPELLED_UNIT = re.compile(
    rf"{_SPELLED_START}(?:{_SPELLED_WORDS})(?:[- ](?:{_SPELLED_WORDS}))?(?=[ -](?:{_SCALE}|{_UNIT})\b)",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"(?<=[\w) ])[-+*/×÷^=<>≤≥](?=[\w( =])")
_BEFORE_DIGITS, _AFTER_DIGITS = 14, 36
"""Longer than what belongs to a number on each side of its digits."""


_AMBIGUOUS = re.compile(r"[0-9][.,][0-9]{3}(?![0-9])")
_MAY_BE_DATED = re.compile(
    r"[0-9][-/.年][0-9]{1,2}[-/.月][0-9]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)
_MAY_BE_TIMED = re.compile(r"[0-9][:.][0-9]{2}")
_MAY_BE_CODED = re.compile(r"[0-9]/[0-9]|[0-9]\.[0-9]+\.[0-9]")


def _windows(text: str, pattern: re.Pattern[str], before: int, after: int) -> list[tuple[int, int]]:
    """Return the stretches around the matches of a pattern, joined where they overlap.

    The patterns of figures take long at each character; most texts have few digits.
    """
    windows: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        start, end = match.start() - before, match.end() + after
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((max(0, start), end))
    return windows


_LEAD = re.compile(
    r"(?:(?<![\w.)\]%-])(?:-|minus |negative ))?"
    rf"(?:(?<![A-Za-z$])(?:{'|'.join(map(re.escape, PREFIXES))})[ ]?)?(?:(?<=[$€£¥₹])-)?[.,]?\Z",
    re.IGNORECASE,
)
_LEAD_ENDS = frozenset("-$€£¥₹₩₽₺₪.,dDrRpPfFyY")
_LEAD_ENDS_BEFORE_BLANK = frozenset("$€£¥₹₩₽₺₪dDrRpPfFyYsSeE")


def _numbers(text: str) -> Iterator[re.Match[str]]:
    """Yield the numbers of a text from its digits on; a search from each character would take far longer."""
    reached = 0
    for digits in _DIGITS.finditer(text):
        start = digits.start()
        if start < reached:
            continue
        before = text[start - 1] if start else ""
        has_lead = before in _LEAD_ENDS or (
            before == " " and text[start - 2 : start - 1] in _LEAD_ENDS_BEFORE_BLANK
        )
        lead = _LEAD.search(text, max(reached, start - _BEFORE_DIGITS), start) if has_lead else None
        match = (_NUMBER.match(text, lead.start()) if lead else None) or _NUMBER.match(text, start)
        if match:
            reached = match.end()
            yield match


def _matches(
    pattern: re.Pattern[str], text: str, windows: Iterable[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    for start, end in windows:
        yield from pattern.finditer(text, start, end)


def _scanned(text: str) -> Iterator[Figure]:
    windows = _windows(text, _DIGITS, _BEFORE_DIGITS, _AFTER_DIGITS)
    operators = [
        (max(0, start), end) for start, end in _windows(text, _OPERATOR, _BEFORE_DIGITS, _BEFORE_DIGITS)
    ]
    for match in _matches(_EXPRESSION, text, operators):
        operator = match[2] or match[3]
        expression = f"{match[1]} {operator} {match[4]}".casefold()
        yield Figure(match.start(), match.end(4), "expression", text=expression)
    # Only such digits may be thousands or decimals, and the habit takes two searches of the whole text.
    habit = decimal_habit(text) if windows and _AMBIGUOUS.search(text) else ""
    for match in _SPELLED_UNIT.finditer(text):
        if (figure := _number(_NUMBER.match(text, match.start()), text, habit)) is not None:
            yield figure
    if not windows:
        return
    spans: list[tuple[int, int]] = []
    for match in _matches(_DATE, text, windows if _MAY_BE_DATED.search(text) else ()):
        if (figure := _date(match)) is not None:
            spans.append(match.span())
            yield figure
    # Dates are taken out first: "1.2.2024" would otherwise be a code, and the parts of others numbers.
    rest = _blanked(text, spans)
    spans = []
    for match in _matches(_TIME, rest, windows if _MAY_BE_TIMED.search(rest) else ()):
        spans.append(match.span())
        yield _time(match)
    for match in _matches(_CODE, rest, windows if _MAY_BE_CODED.search(rest) else ()):
        # "1.200.000" looks like a version, but is a number.
        if not _GROUPED.match(match[0]):
            spans.append(match.span())
            yield _code(match)
    rest = _blanked(rest, sorted(spans))
    has_losses = bool(_LOSS.search(text))
    for match in _numbers(rest):
        if (figure := _number(match, rest, habit, has_losses)) is not None:
            yield figure


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace stretches by a character that no pattern reads."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position:
            parts += text[position:start], "\0" * (end - start)
            position = end
    return "".join((*parts, text[position:])) if parts else text


def _date(match: re.Match[str]) -> Figure | None:
    groups = match.groupdict()
    if groups["iso"] or groups["cjky"]:
        names = ("iso", "isom", "isod") if groups["iso"] else ("cjky", "cjkm", "cjkd")
        year, month, day = (int(groups[name]) for name in names)
        dates = [(year, month, day)]
    elif groups["first"]:
        first, second, year = (int(groups[name]) for name in ("first", "second", "year"))
        year += 2000 if len(groups["year"]) == 2 else 0
        dates = [(year, second, first)] + [(year, first, second)] * (first != second)
    elif groups["month"]:
        dates = [(int(groups["dmy"] or 0), _MONTHS[groups["month"].casefold()], int(groups["day"]))]
    else:
        dates = [(int(groups["mdy"] or 0), _MONTHS[groups["name"].casefold()], int(groups["named"]))]
    possible = tuple((year, month, day) for year, month, day in dates if 1 <= month <= 12 and 1 <= day <= 31)
    if not possible:
        return None
    # Two dates whose order is unknown are equal only where they are written in the same way.
    text = re.sub(r"\D+", "/", match[0]).lstrip("0").replace("/0", "/") if groups["first"] else ""
    parts = {part for year, _, day in possible for part in (year, day) if part}
    values = tuple(map(Fraction, sorted(parts)))
    return Figure(match.start(), match.end(), "date", values=values, dates=possible, text=text)


def _time(match: re.Match[str]) -> Figure:
    hour, minute, half = int(match[1]), match[2], (match[3] or "").casefold()
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return Figure(match.start(), match.end(), "time", text=f"{hour}:{minute}")


def _code(match: re.Match[str]) -> Figure:
    readings: tuple[Reading, ...] = ()
    parts = match[0].split("/")
    if len(parts) == 2 and len(match[0]) < MAX_DIGITS and int(parts[1]):
        readings = (Reading(Fraction(int(parts[0]), int(parts[1]))),)
    values = tuple(reading.value for reading in readings)
    return Figure(match.start(), match.end(), "code", readings, values, text=match[0].casefold().lstrip("v"))


def _number(match: re.Match[str] | None, text: str, habit: Habit, has_losses: bool = False) -> Figure | None:
    if match is None:
        return None
    digits = match["digits"] or ""
    if len(digits) > MAX_DIGITS:
        return Figure(match.start("digits"), match.end("digits"), "code", text=digits)
    if digits:
        values = digit_values(digits, habit)
        if match["half"]:
            values = [value + _FRACTIONS[match["half"]] for value in values]
    elif match["fraction"]:
        values = [_FRACTIONS[match["fraction"]]]
    else:
        values = [Fraction(sum(_SPELLED[word] for word in re.split("[- ]", match["spelled"].casefold())))]
    if match["sign"] or match["inner"]:
        values = [-value for value in values]
    before = text[max(0, match.start() - _BEFORE_CHARS) : match.start()]
    bound: Bound = ""
    # A look-up in a set first: the two patterns would otherwise be searched at every number.
    if before.rstrip()[-2:].strip().casefold() in _BOUND_ENDS:
        bound = "max" if _MAX.search(before) else ""
        if _MIN.search(before):
            bound = "min"
    end = max(
        match.end(name) for name in ("digits", "half", "fraction", "spelled", "scale", "unit", "ordinal")
    )
    return Figure(
        match.start(),
        end,
        "number",
        tuple(_readings(match, values)),
        tuple(value * 10 ** _SCALES[(match["scale"] or "").casefold()] for value in values)
        if match["scale"]
        else tuple(values),
        bound,
        is_loss=has_losses
        and values[0] > 0
        and bool(_LOSS.search(text[max(0, match.start() - 40) : match.start()])),
    )


def digit_values(digits: str, habit: Habit) -> list[Fraction]:
    """Return the values of digits with signs of thousands and decimals, the most likely first."""
    plain = digits.replace(" ", "").replace("'", "")
    signs = [char for char in plain if char in ".,"]
    if not signs:
        return [Fraction(int(plain))]
    if len(set(signs)) == 2:  # the last sign is that of the decimals
        return _decimal(plain, signs[-1])
    sign = signs[0]
    if len(signs) > 1:
        return [Fraction(int(plain.replace(sign, "")))]
    # Thousands never begin with 0: "0.125" is a decimal.
    is_group = bool(_GROUPED.match(plain)) and not plain.startswith("0")
    if not is_group:
        return _decimal(plain, sign)
    as_group = Fraction(int(plain.replace(sign, "")))
    if habit:
        return _decimal(plain, sign) if (habit == "comma") == (sign == ",") else [as_group]
    both = [as_group, *_decimal(plain, sign)]
    # Without a habit, signs are read as in English: a comma divides thousands, a point decimals.
    return both if sign == "," else both[::-1]


def _decimal(digits: str, sign: str) -> list[Fraction]:
    whole, _, part = digits.rpartition(sign)
    whole = re.sub("[.,]", "", whole)
    return [Fraction(int(f"{whole}{part}" or "0"), 10 ** len(part))]


def _readings(match: re.Match[str], values: Sequence[Fraction]) -> Iterator[Reading]:
    prefix = (match["prefix"] or "").strip().casefold()
    scale, unit = match["scale"] or "", match["unit"] or ""
    if unit in _UPPER_CASED:
        unit = ""
    currency = MEASURES[prefix].name if prefix else ""
    for value in values:
        scaled = value * 10 ** _SCALES[scale.casefold()] if scale else value
        if unit and not prefix:
            measure = MEASURES[unit.casefold()]
            yield Reading(scaled * measure.factor, measure.name)
        elif scale and not prefix and scale in _CASED and scale in MEASURES:
            # "5 m" may be five metres or five million; a currency before it leaves no doubt.
            yield Reading(value * MEASURES[scale].factor, MEASURES[scale].name)
            yield Reading(scaled)
        else:
            yield Reading(scaled, currency)


_UPPER_CASED = frozenset(letter.upper() for letter in _CASED)


_NUMERAL = re.compile(
    rf"{_SPELLED_START}({_SPELLED_WORDS})(?:[- ]({_SPELLED_WORDS}))?\b(?![ -](?:{_SCALE}|{_UNIT})\b)",
    re.IGNORECASE,
)


@cached_by_text
def _spelleddigit_values(text: str) -> frozenset[Fraction]:
    return frozenset(
        Fraction(sum(_SPELLED[word.casefold()] for word in match.groups() if word))
        for match in _NUMERAL.finditer(text)
    )


@dataclass(slots=True)
class FigureIndex:
    """Figures of source texts."""

    measured: defaultdict[Fraction, set[tuple[str, Bound]]] = field(default_factory=lambda: defaultdict(set))
    written: defaultdict[Fraction, set[tuple[str, Bound]]] = field(default_factory=lambda: defaultdict(set))
    dates: defaultdict[tuple[int, int], dict[int, set[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    texts: set[str] = field(default_factory=set)
    losses: set[Fraction] = field(default_factory=set)
    has_bounds: bool = True

    def add(self, figures: Iterable[Figure]) -> None:
        """Add the figures of a source."""
        for figure in figures:
            # "" is the least: a figure that may be without a unit counts as one without.
            unit = min((reading.unit for reading in figure.readings), default="")
            for value in figure.values:
                self.written[value].add((unit, figure.bound))
                if figure.is_loss:
                    self.losses.add(-value)
            for reading in figure.readings:
                self.measured[reading.value].add((reading.unit, figure.bound))
            for year, month, day in figure.dates:
                self.dates[month, day][year].add(figure.text if len(figure.dates) > 1 else "")
            if figure.text and figure.kind != "date":
                self.texts.add(figure.text)

    def read(self, text: str) -> None:
        """Add the figures of a source text, and its numerals in words that stand without a unit."""
        self.add(figures_of(text))
        self.has_bounds = self.has_bounds and not _ELLIPSIS.search(text)
        for value in _spelleddigit_values(text):
            self.written[value].add(("", ""))

    def has(self, figure: Figure) -> bool:
        """Return True if a source has a figure: the same value, and no other unit or opposite bound.

        >>> index = FigureIndex()
        >>> index.read("The fee is $15.")
        >>> [index.has(figures_of(text)[0]) for text in ("15 USD", "15", "€15", "-15 USD", "15,00 dollars")]
        [True, True, False, False, True]
        """
        if figure.kind == "date":
            return any(self._has_date(date, figure) for date in figure.dates)
        if figure.text and figure.text in self.texts:
            return True
        return any(self._has_reading(reading, figure) for reading in figure.readings) or any(
            value in self.losses or (figure.is_loss and -value in self.written) for value in figure.values
        )

    def _has_reading(self, reading: Reading, figure: Figure) -> bool:
        """Return True if a size is measured; without a unit on one side, if the number is written."""
        if not reading.unit:
            return self._is_written(reading.value, "", figure)
        return self._has_value(self.measured, reading.value, reading.unit, figure) or any(
            self._is_written(value, reading.unit, figure) for value in figure.values
        )

    def _is_written(self, value: Fraction, unit: str, figure: Figure) -> bool:
        return any(
            (not unit or not other) and self._fits(bound, figure.bound)
            for other, bound in self.written.get(value, ())
        )

    def _fits(self, first: Bound, second: Bound) -> bool:
        return not self.has_bounds or not first or not second or first == second

    def _has_value(
        self,
        values: Mapping[Fraction, set[tuple[str, Bound]]],
        value: Fraction,
        unit: str,
        figure: Figure,
    ) -> bool:
        return any(
            bool(other) and same_unit(unit, other) and self._fits(bound, figure.bound)
            for other, bound in values.get(value, ())
        )

    def _has_date(self, date: tuple[int, int, int], figure: Figure) -> bool:
        """Return True if a date can be the same; two ambiguous ones have to be written in the same order."""
        year, month, day = date
        years = self.dates.get((month, day), {})
        # The year 0 is one that is not written, and fits every other.
        candidates = years.values() if not year else (years.get(year, set()), years.get(0, set()))
        forms = set().union(*candidates)
        return bool(forms) and (len(figure.dates) == 1 or "" in forms or figure.text in forms)


def figure_index(texts: Iterable[str]) -> FigureIndex:
    """Return the index of the figures of texts."""
    index = FigureIndex()
    for text in texts:
        index.read(text)
    return index
