"""JSON pointers (RFC 6901), and members of objects by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.text.folding import fold, same_characters


def member(value: Mapping[str, Any], name: str, default: Any = None) -> Any:
    r"""Return the member of an object with a name; characters that look alike are equal.

    >>> member({"caf\u00e9": 1}, "cafe\u0301")
    1
    """
    if name in value:
        return value[name]
    return next((item for key, item in value.items() if same_characters(key, name)), default)


def have_names(value: Mapping[str, Any], names: Mapping[str, Any]) -> bool:
    """Return True if all members of an object have names of another one."""
    return value.keys() <= names.keys() or set(map(fold, value)) <= set(map(fold, names))


_MISSING = object()


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
        if isinstance(value, dict):
            if (value := member(value, name, _MISSING)) is _MISSING:
                return default
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return default
    return value
