"""Cells of CSV files: texts stay texts; lists and objects are read only where one is expected."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from pytest_evalstudio.text.unicode import valid_json

# Possessive repeats: a long cell that is no list is refused without trying other divisions of it.
_LITERAL = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
_TEXTS = re.compile(rf"\[\s*+(?:{_LITERAL}[\s,]*+)*+\]", re.DOTALL)
"""List of texts as Python and NumPy write it: `['a', 'b']`, `['a' 'b']`."""
_ITEM = re.compile(_LITERAL, re.DOTALL)
_SHORTENED = re.compile(rf"\[\s*+(?:(?:{_LITERAL}|\.\.\.)[\s,]*+)*+\]", re.DOTALL)


_NUMPY = re.compile(
    r"(?P<array>\barray\(|,\s*+dtype=[\w.]++\)|(?<=\])\))"
    rf"|(?P<item>{_LITERAL}|\]|[-+]?\d[\w.+-]*+)(?P<gap>\s++(?=['\"\[]|[-+]?\d)|(?=['\"]))?",
    re.DOTALL,
)
"""Arrays within lists and objects as NumPy writes them: their items are separated by blanks."""


class Cell(str):
    """Cell of a CSV file that a reader has not looked into."""

    __slots__ = ()


def list_in(cell: str) -> list[Any] | None:
    """Return the list that a cell holds, as JSON, Python or NumPy writes it; None for a plain text.

    Raises:
        ValueError: if NumPy has shortened the list, so that items are missing.

    >>> list_in('["a", "b"]'), list_in("['a', 'b']"), list_in("['a' 'b']"), list_in("[1] a footnote")
    (['a', 'b'], ['a', 'b'], ['a', 'b'], None)
    """
    text = valid_json(cell.strip())
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list):
        return value
    if _TEXTS.fullmatch(text):
        # Python would join adjacent texts, which NumPy separates by blanks alone.
        items = [_literal(item) for item in _ITEM.findall(text)]
        return None if None in items else items  # an escape that Python does not know makes a plain text
    if _SHORTENED.fullmatch(text):
        raise ValueError("is a list that NumPy has shortened by '...'; write it as JSON, e.g. by json.dumps")
    is_nested = text[1:].lstrip().startswith(("[", "{", "array("))
    literal = _literal(_in_python(text) if is_nested else text)
    return literal if isinstance(literal, list) else None


def object_in(cell: str) -> dict[str, Any] | None:
    """Return the object that a cell holds, as JSON, Python or NumPy writes it; None for a plain text.

    >>> object_in("{'text': ['A' 'x'], 'start': array([1, 2])}")
    {'text': ['A', 'x'], 'start': [1, 2]}
    """
    text = valid_json(cell.strip())
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _literal(_in_python(text))
    return value if isinstance(value, dict) else None


def _in_python(text: str) -> str:
    """Return lists and objects with arrays of NumPy as Python writes them."""

    def plain(match: re.Match[str]) -> str:
        if match["array"]:
            return ""
        return match["item"] if match["gap"] is None else f"{match['item']},"

    return _NUMPY.sub(plain, text)


def _literal(text: str) -> object:
    """Return the value of a Python literal, None for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
