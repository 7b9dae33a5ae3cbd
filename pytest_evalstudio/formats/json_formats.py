"""Formats of JSON Schema: what `format` asks of a string.

jsonschema checks most of them only where further packages are installed, so that a verdict would depend on
the machine; these are the formats of draft 2020-12 by rules of this package.
"""

from __future__ import annotations

import datetime
import functools
import ipaddress
import re
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.patterns import compiled

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_TIME = (
    r"(?P<clock>[0-9]{2}:[0-9]{2}:)(?P<second>[0-9]{2})(?:\.[0-9]{1,20})?"
    r"(?:[zZ]|[+-](?P<zone>[0-9]{2}:[0-9]{2}))"
)
_FULL_TIME = re.compile(_TIME)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(rf"(?P<date>{_DATE.pattern})[tT ]{_TIME}")
_DURATION = re.compile(
    r"P(?=.)(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?)"
)
_LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_IDN_HOST = re.compile(r"(?!-)(?:[^\W_]|-){1,63}(?<!-)(?:\.(?!-)(?:[^\W_]|-){1,63}(?<!-))*")
_URI_CHARS = r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"
_URI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:{_URI_CHARS}")
_URI_REFERENCE = re.compile(_URI_CHARS)
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*")
_IRI_REFERENCE = re.compile(r"[^\s<>\"{}|\\^`]*")
_URI_TEMPLATE = re.compile(r"(?:[^\s<>\"{}|\\^`]|\{[+#./;?&]?[\w.%,:*]+\})*")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_RELATIVE_POINTER = re.compile(r"(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)")
_EMAIL = re.compile(r"(?:\"[^\"\n]+\"|[^\s@\"]+)@(?:\[[0-9A-Fa-f.:IPv]+\]|[^\s@.\[\]]+(?:\.[^\s@.\[\]]+)*)")


def _whole(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    datetime.date.fromisoformat(text)
    return True


def _is_clock(match: re.Match[str] | None) -> bool:
    """Return True for a time of day with its zone; a leap second is one."""
    if match is None or int(match["second"]) > 60:
        return False
    datetime.time.fromisoformat(match["clock"] + "00")
    return match["zone"] is None or bool(datetime.time.fromisoformat(match["zone"] + ":00"))


def _is_date_time(text: str) -> bool:
    match = _DATE_TIME.fullmatch(text)
    return match is not None and _is_date(match["date"]) and _is_clock(match)


def _is_host(text: str) -> bool:
    return len(text) < 254 and _HOST.fullmatch(text) is not None


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and str(uuid.UUID(text)) == text.lower()


def _is_pattern(text: str) -> bool:
    try:
        compiled(text)
    except EvaluationError:
        return False
    return True


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "time": lambda text: _is_clock(_FULL_TIME.fullmatch(text)),
    "duration": _whole(_DURATION),
    "email": _whole(_EMAIL),
    "idn-email": _whole(_EMAIL),
    "hostname": _is_host,
    "idn-hostname": _whole(_IDN_HOST),
    "ipv4": lambda text: bool(str(ipaddress.IPv4Address(text))),
    "ipv6": lambda text: "%" not in text and bool(str(ipaddress.IPv6Address(text))),
    "uri": _whole(_URI),
    "uri-reference": _whole(_URI_REFERENCE),
    "iri": _whole(_IRI),
    "iri-reference": _whole(_IRI_REFERENCE),
    "uri-template": _whole(_URI_TEMPLATE),
    "json-pointer": _whole(_POINTER),
    "relative-json-pointer": _whole(_RELATIVE_POINTER),
    "regex": _is_pattern,
    "uuid": _is_uuid,
}


def has_format(text: str, name: str) -> bool:
    """Return True if a text has a format; any text has an unknown one.

    >>> has_format("2024-02-30", "date"), has_format("2024-02-29T12:00:00Z", "date-time")
    (False, True)
    """
    check = FORMATS.get(name)
    try:
        return check is None or check(text)
    except ValueError:
        return False


@functools.cache
def format_checker() -> FormatChecker:
    """Return these formats for jsonschema, and no others."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name in FORMATS:
        checker.checks(name)(functools.partial(_checked, name))
    return checker


def _checked(name: str, value: object) -> bool:
    return not isinstance(value, str) or has_format(value, name)
