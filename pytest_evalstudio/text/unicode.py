r"""Valid Unicode: texts of others without lone surrogates.

A lone surrogate is half of a UTF-16 pair, as services that cut texts by UTF-16 units send it (`"\ud83d"`).
UTF-8 cannot hold it, so that files, digests and requests fail on it. It becomes the replacement character
U+FFFD where foreign data enter: in files, replies of hosts, cases of Python code and outcomes of plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

T = TypeVar("T")
REPLACEMENT = "\ufffd"
_RAW = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""A surrogate in the bytes that Python's `surrogatepass` reads and writes."""
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    rb"|\\(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\.",
    re.DOTALL,
)


def is_valid(text: str) -> bool:
    """Return whether UTF-8 can hold a text.

    The time is linear; for ASCII it is that of reading a flag.
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def valid_text(text: str) -> str:
    r"""Return a text with U+FFFD for each lone surrogate; the two halves of a pair become their character.

    >>> valid_text("a\ud83d"), valid_text("a\ud83d\ude00") == "a\U0001f600"
    ('a�', True)
    """
    if is_valid(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def valid_json(text: str) -> str:
    r"""Return JSON text whose strings decode to valid Unicode; places and length stay as they are.

    >>> valid_json(r'["\ud83d", "\ud83d\ude00", "\\ud83d"]')
    '["\\ufffd", "\\ud83d\\ude00", "\\\\ud83d"]'
    """
    if is_valid(text) and "\\ud" not in text and "\\uD" not in text:
        return text
    return valid_json_bytes(text.encode("utf-8", "surrogatepass")).decode()


def valid_json_bytes(text: bytes) -> bytes:
    """Return JSON text in UTF-8 as `valid_json` does; bytes that are not UTF-8 stay."""
    # Searches for fixed bytes first: nearly no text has them, and an expression takes several times as long.
    if b"\xed" in text:
        text = _RAW.sub(REPLACEMENT.encode(), text)
    if b"\\u" not in text or _SURROGATE_ESCAPE.search(text) is None:
        return text
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match["lone"] else match[0], text)


def valid_data(value: T) -> T:
    r"""Return data with valid texts; the same object where all are valid.

    Args:
        value: texts, mappings, lists, tuples, dataclasses and structs are looked into; other values are kept.

    >>> valid_data({"a\ud83d": ["b", 1]})
    {'a�': ['b', 1]}
    """
    return cast(T, _data(value))


def _data(value: object) -> object:
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, Mapping):
        items = [(_data(key), _data(item)) for key, item in value.items()]
        same = all(new is key and item is value[key] for (new, item), key in zip(items, value, strict=True))
        return value if same else dict(items)
    if type(value) in (list, tuple):
        parts = [_data(part) for part in cast(Iterable[object], value)]
        if all(new is old for new, old in zip(parts, cast(Iterable[object], value), strict=True)):
            return value
        return parts if type(value) is list else tuple(parts)
    names = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", None)
    return value if names is None or isinstance(value, type) else _fields(value, names)


def _fields(value: object, names: Iterable[str]) -> object:
    changes = {}
    for name in names:
        old = getattr(value, name)
        new = _data(old)
        if new is not old:
            changes[name] = new
    if not changes:
        return value
    import dataclasses  # rarely needed

    import msgspec

    if hasattr(value, "__struct_fields__"):
        return msgspec.structs.replace(value, **changes)  # type: ignore[type-var]
    return dataclasses.replace(value, **changes)  # type: ignore[type-var]
