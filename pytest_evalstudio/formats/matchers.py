"""Matchers: expected values of arguments and states that are more than literals.

A literal is compared by JSON equality: 1 equals 1.0, the order of keys says nothing. In strings and names of
members, characters that look alike are equal, see `text.folding`; case and white space count. An object with
one key that begins with "$" is a matcher:

| matcher | matches |
|---|---|
| `{"$any": true}` | every value that is there, null included |
| `{"$absent": true}` | nothing: the argument is not there |
| `{"$one_of": [...]}` | a value that matches one of the list |
| `{"$regex": "..."}` | a string in which the pattern is found, as it is or with look-alikes folded |
| `{"$approx": 120.0, "tolerance": 0.01}` | a number at most the tolerance (0.000001) away |
| `{"$contains": ...}` | a string with this part, a list with this element, or an object with these values |
| `{"$schema": {...}}` | a value that is valid under a JSON Schema |

Matchers may stand inside objects and lists. A number at an edge of a part is a whole one: "5 USD" is no part
of "15 USD".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError, nearest
from pytest_evalstudio.core.tool_calls import MAX_DEPTH, is_deep
from pytest_evalstudio.formats.patterns import compiled

MATCHERS = ("$any", "$absent", "$one_of", "$regex", "$approx", "$contains", "$schema")
DEFAULT_TOLERANCE = 1e-6


def matcher_of(value: object) -> str:
    """Return the name of the matcher that a value is, "" for a literal.

    >>> matcher_of({"$regex": "(?i)illness"}), matcher_of({"id": 1})
    ('$regex', '')
    """
    if not isinstance(value, Mapping):
        return ""
    return next((name for name in value if isinstance(name, str) and name.startswith("$")), "")


def matcher_fault(value: object) -> str:
    """Return what is wrong with an expected value, "" if nothing is.

    >>> matcher_fault({"$aprox": 1})
    "'$aprox' is no matcher. Did you mean '$approx'?"
    """
    if isinstance(value, str | int | float):
        return ""
    if is_deep(value):
        return f"it is nested more than {MAX_DEPTH} deep; simplify it"
    return _fault(value)


def _fault(value: Any) -> str:
    name = matcher_of(value)
    if not name:
        return _fault_inside(value)
    if name not in MATCHERS:
        return f"{name!r} is no matcher. {nearest(name, MATCHERS)}".strip()
    if extra := [key for key in value if key != name and not (name == "$approx" and key == "tolerance")]:
        return f"{extra[0]!r} stands beside {name!r}; a matcher has one key"
    operand = value[name]
    match name:
        case "$any" | "$absent":
            return "" if operand is True else f"{name}: write true"
        case "$one_of":
            if not isinstance(operand, list) or not operand:
                return "$one_of: write a list of values"
            return _fault_inside(operand)
        case "$regex":
            return _pattern_fault(operand)
        case "$approx":
            tolerance = value.get("tolerance", DEFAULT_TOLERANCE)
            if not is_number(operand) or not is_number(tolerance) or tolerance < 0:
                return '$approx: write {"$approx": 120.0, "tolerance": 0.01}'
        case "$contains":
            return _fault_inside(operand)
        case "$schema":
            return _schema_fault(operand)
    return ""


def _fault_inside(value: Any) -> str:
    parts: Iterable[Any] = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    return next((fault for part in parts if (fault := _fault(part))), "")


def _schema_fault(schema: object) -> str:
    from pytest_evalstudio.formats.json_schema_forms import unwrapped, vocabulary_fault

    if not isinstance(schema, Mapping | bool):
        return "$schema: write a JSON Schema"
    fault = vocabulary_fault(unwrapped(schema))
    return f"$schema: {fault}" if fault else ""


def _pattern_fault(pattern: object) -> str:
    if not isinstance(pattern, str):
        return "$regex: write a pattern as a string"
    try:
        compiled(pattern)
    except EvaluationError as exc:
        return f"$regex: {exc}"
    return ""


def is_number(value: object) -> bool:
    """Return whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
