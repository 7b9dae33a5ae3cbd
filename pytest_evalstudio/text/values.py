"""Values of texts that are a number alone: labels and short answers, also in LaTeX."""

from __future__ import annotations

import functools
import re
import unicodedata
from fractions import Fraction

from pytest_evalstudio.text.folding import fold
from pytest_evalstudio.text.numbers import MAX_DIGITS, digit_values

_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)?|[0-9]+(?:[.,'][0-9]+)*|[.,][0-9]+)")
_RATIO = re.compile(r"([+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?)\s?/\s?([0-9]{1,20}(?:\.[0-9]{1,20})?)")
_POWER = re.compile(
    r"([+-]?[0-9.]+)(?:e|\s?(?:\*|×|x|\\times|\\cdot)\s?10\^?\{?)([+-]?[0-9]{1,2})\}?", re.IGNORECASE
)
_TEN_TO = re.compile(r"10\^\{?([+-]?[0-9]{1,2})\}?")
_TEX_FRACTION = re.compile(r"\\[dt]?frac(?:\{([0-9.-]+)\}\s?\{([0-9.]+)\}|([0-9])([0-9]))")
_SIGN = re.compile(r"\A([+-]) ")
_MIXED = re.compile(
    r"([+-]?)(?:([0-9]{1,20}) ([1-9][0-9]{0,2})/([1-9][0-9]{0,2})"
    r"|([0-9]{0,20}) ?([\u00bc-\u00be\u2150-\u215e]))"
)
"""A whole number and a fraction, `1 1/2` or `1½`, or a fraction by itself, `½`."""


@functools.lru_cache(maxsize=4096)
def number_value(text: str) -> Fraction | None:
    r"""Return the value of a text that is a number alone, None for another text.

    Args:
        text: a label or an answer, also in LaTeX: `\frac{1}{2}`, `\boxed{5}`, `$1{,}000$`.

    >>> [str(number_value(text)) for text in (r"\frac{1}{2}", "1/2", "0.50", "1,000", "1e3", "five", "5 USD")]
    ['1/2', '1/2', '1/2', '1000', '1000', 'None', 'None']
    """
    plain = fold(text).strip() if len(text) < 4 * MAX_DIGITS else ""
    plain = plain.strip("$ ").removesuffix(".")
    while boxed := re.fullmatch(r"\\(?:boxed|text|mathrm)\{(.*)\}", plain):
        plain = boxed[1].strip("$ ")
    plain = plain.replace("{,}", ",").replace("\\,", "").replace("\\!", "")
    plain = _SIGN.sub(r"\1", _TEX_FRACTION.sub(r" \1\3/\2\4", plain).strip())
    if mixed := _MIXED.fullmatch(plain):
        return _mixed_value(mixed)
    if power := _TEN_TO.fullmatch(plain):
        return Fraction(10) ** int(power[1])
    if power := _POWER.fullmatch(plain):
        base = number_value(power[1])
        return None if base is None else base * Fraction(10) ** int(power[2])
    if ratio := _RATIO.fullmatch(plain):
        return Fraction(ratio[1]) / Fraction(ratio[2]) if Fraction(ratio[2]) else None
    if re.match(r"[+-]?0[0-9]", plain):  # a code such as 007
        return None
    if not _DECIMAL.fullmatch(plain) or len(plain) > MAX_DIGITS:
        return None
    sign = -1 if plain.startswith("-") else 1
    return sign * digit_values(plain.lstrip("+-"), "point")[0]


def _mixed_value(match: re.Match[str]) -> Fraction:
    if match[6]:
        top, _, bottom = unicodedata.normalize("NFKC", match[6]).partition("\u2044")
        value = int(match[5] or 0) + Fraction(int(top), int(bottom))
    else:
        value = int(match[2]) + Fraction(int(match[3]), int(match[4]))
    return -value if match[1] == "-" else value


def decimal_text(text: str) -> str:
    """Return a text that is a number alone with a decimal point and no other signs; "" for another text.

    >>> decimal_text("1,200.50"), decimal_text("1/3"), decimal_text("Paris")
    ('1200.5', '', '')
    """
    value = number_value(text)
    # A denominator that divides no power of ten, such as 3, has no finite decimal form.
    if value is None or 10**MAX_DIGITS % value.denominator:
        return ""
    digits = len(str(value.denominator)) - 1
    while value * 10**digits % 1:
        digits += 1
    whole = str(abs(value.numerator * 10**digits // value.denominator)).rjust(digits + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{whole[:-digits]}.{whole[-digits:]}" if digits else f"{sign}{whole}"
