"""Spans and log records of a trace, without regard to the format of their file."""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.numbers import MAX_SECONDS

Attributes: TypeAlias = Mapping[str, Json]
NANOSECONDS = 1_000_000_000
_DIGITS = "0123456789abcdef"
_MAX_DIGITS = 32
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{1,32})", re.ASCII)


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """Event of a span, or log record that belongs to it.

    Attributes:
        body: of a log record.
    """

    name: str
    attributes: Attributes = {}
    body: Json = None


class Span(Struct, frozen=True, kw_only=True, gc=False):
    """Span of a trace.

    Attributes:
        parent: id of the span that it belongs to; "" for a root.
        started_s: start in seconds since the epoch; None where the trace does not say it.
        duration_s: None where the trace does not say it.
        error: the status where the operation failed.
        is_server: whether it is the server's part of a request.
    """

    id: str
    parent: str = ""
    name: str = ""
    started_s: float | None = None
    duration_s: float | None = None
    attributes: Attributes = {}
    events: tuple[Event, ...] = ()
    error: str = ""
    is_server: bool = False


@functools.lru_cache(maxsize=4096)
def hex_id(text: str) -> str:
    """Return the id of a trace or span in lower-case hexadecimal; exports of Tempo have base64.

    >>> hex_id("0x5B8E"), hex_id("W47/l3p1U14="), hex_id("AAAAAAAAAAA="), hex_id("a b")
    ('5b8e', '5b8eff977a75535e', '', '')
    """
    if len(text) <= _MAX_DIGITS and not text.strip(_DIGITS):  # as nearly all
        digits = text
    elif match := _HEX.fullmatch(text):
        digits = match[1].lower()
    else:
        try:
            digits = base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return ""
    # An id of zeros is invalid in OpenTelemetry, and means that there is none.
    return digits if digits.strip("0") else ""


def failure(message: str, events: Iterable[Event]) -> str:
    """Return the error of a span that failed: of its status, else of the exception that it recorded."""
    exceptions = (event.attributes for event in events if event.name == "exception")
    values = next(exceptions, {})
    text = values.get("exception.message") or values.get("exception.type")
    return message or (text if isinstance(text, str) and text else "error")


def interval(start_ns: int, end_ns: int) -> tuple[float | None, float | None]:
    """Return start and duration in seconds; 0 stands for a time that is not recorded."""
    started_s = start_ns / NANOSECONDS if start_ns > 0 else None
    duration_s = (end_ns - start_ns) / NANOSECONDS if end_ns >= start_ns > 0 else None
    return started_s, duration_s if duration_s is None or duration_s <= MAX_SECONDS else None
