"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from typing import Any


def value_at(value: Any, pointer: str, default: Any = None) -> Any:
    """Return the part of a JSON value at a pointer.

    Args:
        value: JSON value.
        pointer: "" or "/" for the whole value; the first slash may be left out.
        default: returned where there is no such part.

    >>> value_at({"a": [{"b/c": 7}]}, "/a/0/b~1c")
    7
    """
    for raw in pointer.removeprefix("/").split("/") if pointer not in ("", "/") else ():
        name = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return default
    return value
