"""JSON of a record's lines: typed values in, bytes out, and back."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.record.schema import Item, Line, Run, Tables
from pytest_evalstudio.text.unicode import valid_json_bytes

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Run | Item | Tables, strict=False)


def encode_line(line: Line) -> bytes:
    """Return a line of a record as JSON without a line break.

    Infinities become the words "Infinity" and "-Infinity", half a surrogate pair becomes its escape.

    >>> from pytest_evalstudio.record.schema import Tables
    >>> encode_line(Tables())
    b'{"kind":"meta"}'
    """
    if not _has_infinity(line):
        try:
            return _ENCODER.encode(line)
        except UnicodeEncodeError:
            pass
    plain = portable(msgspec.to_builtins(line))
    return json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def decode_plain(raw: bytes) -> object:
    """Return the plain JSON value of a line.

    The standard library reads integers beyond 64 bits, which msgspec refuses. Half a surrogate pair becomes
    U+FFFD.

    Raises:
        ValueError: if the line is not JSON.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(valid_json_bytes(raw), parse_constant=_refuse)


def decode_line(raw: bytes) -> Line:
    """Return the value of a line.

    Raises:
        ValueError: if the line is not JSON, or not of the types of `schema`; the message names the place.
    """
    try:
        return _DECODER.decode(raw)
    # It is a DecodeError as well, but the line is JSON: another decoder would refuse its types too.
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):  # integers beyond 64 bits, half surrogate pairs
        return convert(decode_plain(raw))


def convert(value: object) -> Line:
    """Return a line from plain JSON data.

    Raises:
        ValueError: if the data are not of the types of `schema`.
    """
    line: Line = msgspec.convert(value, Run | Item | Tables, strict=False)
    return line


def portable(value: Any) -> Any:
    """Return JSON data with infinities as words and NaN as null.

    >>> portable([float("inf"), {"a": float("nan")}])
    ['Infinity', {'a': None}]
    """
    if isinstance(value, float):
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: portable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [portable(item) for item in value]
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _has_infinity(line: Line) -> bool:
    """Return whether a line may hold a number that JSON cannot: msgspec would write null in its place."""
    if not isinstance(line, Item):
        return True
    return (
        any(_outcome_has_infinity(outcome) for row in line.rows for outcome in row.outcomes.values())
        or any(_verdict_has_infinity(verdict) for verdict in line.verdicts.values())
        or any(_is_infinite((flip.source_score, flip.score, flip.threshold)) for flip in line.flips)
    )


def _outcome_has_infinity(outcome: Outcome) -> bool:
    return (
        _is_infinite(outcome.scores.values())
        or any(_is_infinite(mark.scores.values()) for mark in outcome.fragments)
        or (bool(outcome.details) and _json_has_infinity(outcome.details))
    )


def _verdict_has_infinity(verdict: Verdict) -> bool:
    return (
        _is_infinite(verdict.scores.values())
        or _is_infinite(verdict.min.values())
        or _is_infinite(verdict.thresholds.values())
    )


def _is_infinite(values: Iterable[float | None]) -> bool:
    return any(value is not None and math.isinf(value) for value in values)


def _json_has_infinity(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_json_has_infinity, value.values()))
    return isinstance(value, list | tuple) and any(map(_json_has_infinity, value))


def iso_time(seconds: float) -> str:
    """Return a time in seconds since the epoch as records write it."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
