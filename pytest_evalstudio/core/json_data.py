"""Data that JSON can hold: values of other people's code are checked before they reach a record."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

T = TypeVar("T")
Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""A value of JSON."""
MAX_DEPTH = 200
"""Deeper data are refused: writers and readers of JSON are recursive."""


def non_empty(**values: Any) -> dict[str, Any]:
    """Return the values that say something, without None and empty texts and containers.

    >>> non_empty(name="", tags=[], count=0, stop=None, final=False)
    {'count': 0, 'final': False}
    """
    return {
        name: value
        for name, value in values.items()
        if value is not None and not (isinstance(value, Sized) and not len(value))
    }


def json_data(value: T) -> T:
    """Return data as plain texts, numbers, lists and dicts, which a record can hold.

    Numbers and arrays of numpy become Python's; dates, sets and others that msgspec knows texts and lists.

    Raises:
        ValueError: with place and fact, for the first value that JSON cannot hold.

    >>> json_data({"rows": [{"path": object()}]})
    Traceback (most recent call last):
    ...
    ValueError: ['rows'][0]['path']: expected JSON data, found object
    """
    try:
        return cast(T, msgspec.to_builtins(value, str_keys=True))
    except Exception:  # of any kind, where other people's classes take part
        return cast(T, _converted(value, ""))


def _converted(value: object, place: str, depth: int = 0) -> object:
    if depth > MAX_DEPTH:
        raise ValueError(f"{place[:60]}…: is nested more than {MAX_DEPTH} deep")
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        if wrong := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"{place}: expected texts as keys, found {type(wrong[0]).__name__}")
        return {key: _converted(item, f"{place}[{key!r}]", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_converted(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return _converted(cast(Any, value).tolist(), place, depth + 1)
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except Exception:
        raise ValueError(f"{place}: expected JSON data, found {type(value).__name__}") from None
